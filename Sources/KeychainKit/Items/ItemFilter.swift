// SPDX-License-Identifier: Apache-2.0
// Conditions of a search.

import KeychainEngine

/// Conditions on items. An item matches if all conditions that are not `nil` match exactly.
///
/// ```swift
/// let negatives = try store.items(matching: ItemFilter(attributes: ItemAttributes(isNegative: true)))
/// ```
public struct ItemFilter: Hashable, Sendable {
    public var account: String?
    public var attributes: ItemAttributes
    public var accessGroup: String?
    public var accessibility: Accessibility?
    /// The service. A store ignores this and all conditions on a server: it searches only its own service or server.
    public var service: String?
    public var server: String?
    /// A server and its subdomains: `example.com` matches `example.com` and `git.example.com`.
    public var domain: String?
    public var `protocol`: InternetProtocol?
    public var port: Int?
    public var path: String?
    public var securityDomain: String?
    public var authenticationType: InternetAuthentication?
    /// `nil`: both kinds. A store has only one of them.
    public var synchronizable: Bool?
    /// Whether items that require authentication are left out, unless the context has proven the user or has the
    /// password.
    public var skipsProtected = false

    /// Matches every item.
    public static let all = ItemFilter()

    public init(
        account: String? = nil, attributes: ItemAttributes = ItemAttributes(), accessGroup: String? = nil,
        accessibility: Accessibility? = nil, service: String? = nil, server: String? = nil, synchronizable: Bool? = nil
    ) {
        (self.account, self.attributes, self.accessGroup) = (account, attributes, accessGroup)
        (self.accessibility, self.service, self.server) = (accessibility, service, server)
        self.synchronizable = synchronizable
    }

    /// An item does not match a condition on an attribute that its class does not have.
    func query(_ itemClass: ItemClass) -> Query? {
        let conditions = self.conditions
        guard conditions.allSatisfy({ itemClass.schema[$0.attribute] != nil }) else { return nil }
        if domain != nil, itemClass != .internetPassword { return nil }
        var query = Query(itemClass, conditions)
        query.synchronizableAny = synchronizable == nil
        query.limit = .all
        if let domain { query.matchCriteria = [.host(domain)] }
        if skipsProtected { query.authenticationUI = .skip }
        return query
    }

    private var conditions: Attributes {
        var conditions = attributes.given
        conditions[.account] = account.map { .string($0) }
        conditions[.accessGroup] = accessGroup.map { .string($0) }
        conditions[.accessible] = accessibility.map { .string($0.rawValue) }
        conditions[.service] = service.map { .string($0) }
        conditions[.server] = server.map { .string($0) }
        conditions[.protocol] = `protocol`.map { .string($0.rawValue) }
        conditions[.port] = port.map { .number(Int64($0)) }
        conditions[.path] = path.map { .string($0) }
        conditions[.securityDomain] = securityDomain.map { .string($0) }
        conditions[.authenticationType] = authenticationType.map { .string($0.rawValue) }
        conditions[.synchronizable] = synchronizable.map { .bool($0) }
        return conditions
    }
}
