// SPDX-License-Identifier: Apache-2.0
// The service under which the items of a valet lie: the same text as ever, so that existing items are found.

import Foundation
@_spi(Wrappers) import KeychainKit
@_spi(Wrappers) import KeychainServices

/// Where the items of a valet lie: their service, and perhaps their access group.
enum Service: CustomStringConvertible, Equatable, Sendable {
    case standard(Identifier, Configuration)
    /// Without an identifier the group's own name is all that tells it from others.
    case sharedGroup(SharedGroupIdentifier, Identifier?, Configuration)
    /// The identifier itself is the service.
    case standardOverride(service: Identifier, Configuration)
    case sharedGroupOverride(service: SharedGroupIdentifier, Configuration)

    static func == (left: Service, right: Service) -> Bool { left.name == right.name }

    /// The service.
    var description: String { description(configuration.accessibility.description) }

    /// - Parameter accessibility: What stands for it in the service, where the service names it.
    func description(_ accessibility: String) -> String {
        let control = configuration.accessControl?.description ?? ""
        return switch self {
        case .standard(let identifier, _):
            "VAL_\(configuration)_initWithIdentifier:accessibility:_\(identifier)_\(accessibility)\(control)"
        case .sharedGroup(let group, let identifier, _):
            "VAL_\(configuration)_initWithSharedAccessGroupIdentifier:accessibility:_\(group.groupIdentifier)_"
                + (identifier.map { "\($0)_" } ?? "") + accessibility + control
        case .standardOverride(let identifier, _): identifier.description
        case .sharedGroupOverride(let group, _): group.groupIdentifier
        }
    }

    /// Which items it means, in bytes as keychains compare them: to Swift text of the same look is equal.
    var name: [[UInt8]] {
        [accessGroup ?? "", description, configuration.isSynchronizable ? "synchronizable" : ""].map { Array($0.utf8) }
    }

    /// Tells apart also what the same items are stored with.
    var uniqueName: [[UInt8]] { name + [Array(configuration.prettyDescription.utf8)] }

    var configuration: Configuration {
        switch self {
        case .standard(_, let configuration), .sharedGroup(_, _, let configuration),
            .standardOverride(_, let configuration), .sharedGroupOverride(_, let configuration):
            configuration
        }
    }

    var identifier: Identifier {
        switch self {
        case .standard(let identifier, _), .standardOverride(let identifier, _): identifier
        case .sharedGroup(let group, let identifier, _): identifier ?? group.asIdentifier
        case .sharedGroupOverride(let group, _): group.asIdentifier
        }
    }

    /// For people.
    var summary: String { "\(identifier) \(configuration.prettyDescription)" }

    /// `nil`: the program's own.
    var accessGroup: String? {
        switch self {
        case .standard, .standardOverride: nil
        case .sharedGroup(let group, _, _), .sharedGroupOverride(let group, _): group.description
        }
    }

    /// The same name for another kind of valet, or with another accessibility.
    func with(_ configuration: Configuration) -> Service {
        switch self {
        case .standard(let identifier, _): .standard(identifier, configuration)
        case .sharedGroup(let group, let identifier, _): .sharedGroup(group, identifier, configuration)
        case .standardOverride(let identifier, _): .standardOverride(service: identifier, configuration)
        case .sharedGroupOverride(let group, _): .sharedGroupOverride(service: group, configuration)
        }
    }
}

// MARK: - As a dictionary

extension Service {
    /// What finds the items of the service, and makes new ones.
    func generateBaseQuery() -> [String: AnyHashable] {
        var query = query(description)
        guard let control = configuration.accessControl else {
            query[kSecAttrAccessible as String] = configuration.accessibility.secAccessibilityAttribute
            return query
        }
        let flags = SecAccessControlCreateFlags(rawValue: CFOptionFlags(truncatingIfNeeded: control.flags.rawValue))
        query[kSecAttrAccessControl as String] = SecAccessControlCreateWithFlags(
            nil, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, flags, nil)
        return query
    }

    /// What finds the items of a service of this valet's group and kind, of whatever accessibility.
    func query(_ service: String) -> [String: AnyHashable] {
        var query: [String: AnyHashable] = [
            kSecClass as String: kSecClassGenericPassword as String, kSecAttrService as String: service,
            kSecUseDataProtectionKeychain as String: true,
        ]
        if let accessGroup { query[kSecAttrAccessGroup as String] = accessGroup }
        if configuration.isSynchronizable { query[kSecAttrSynchronizable as String] = true }
        return query
    }
}
