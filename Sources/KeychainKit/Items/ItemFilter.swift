// SPDX-License-Identifier: Apache-2.0
// Which items are looked for.

import KeychainEngine

/// Conditions on items: all that are given hold exactly; what is `nil` does not matter.
///
/// ```swift
/// let negatives = try store.items(matching: ItemFilter(attributes: ItemAttributes(isNegative: true)))
/// ```
public struct ItemFilter: Hashable, Sendable {
    public var account: String?
    public var attributes: ItemAttributes
    public var accessGroup: String?
    public var accessibility: Accessibility?
    /// Where the items are; a store looks only into its own service or server, whatever is said here.
    public var service: String?
    public var server: String?
    /// The server itself, and what the name is a domain of: `git.example.com` for `example.com`.
    public var domain: String?
    public var `protocol`: InternetProtocol?
    public var port: Int?
    public var path: String?
    public var securityDomain: String?
    public var authenticationType: InternetAuthentication?
    /// `nil`: both kinds; a store has one of them.
    public var synchronizable: Bool?
    /// Whether items are left out that ask for the user or a password.
    public var skipsProtected = false

    /// Everything.
    public static let all = ItemFilter()

    public init(
        account: String? = nil, attributes: ItemAttributes = ItemAttributes(), accessGroup: String? = nil,
        accessibility: Accessibility? = nil, service: String? = nil, server: String? = nil, synchronizable: Bool? = nil
    ) {
        (self.account, self.attributes, self.accessGroup) = (account, attributes, accessGroup)
        (self.accessibility, self.service, self.server) = (accessibility, service, server)
        self.synchronizable = synchronizable
    }

    /// A condition on an attribute that a class does not have holds for none of its items.
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
