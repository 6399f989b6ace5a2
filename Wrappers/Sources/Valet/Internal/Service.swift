// SPDX-License-Identifier: Apache-2.0
// The service of a valet's items. The text is that of the original, so that existing items are found.

import Foundation
@_spi(Wrappers) import KeychainKit
@_spi(Wrappers) import KeychainServices

/// The location of a valet's items: their service, and optionally their access group.
enum Service: CustomStringConvertible, Equatable, Sendable {
    case standard(Identifier, Configuration)
    /// Without an identifier, only the group's name distinguishes it from others.
    case sharedGroup(SharedGroupIdentifier, Identifier?, Configuration)
    /// The identifier itself is the service.
    case standardOverride(service: Identifier, Configuration)
    case sharedGroupOverride(service: SharedGroupIdentifier, Configuration)

    static func == (left: Service, right: Service) -> Bool { left.name == right.name }

    /// The service.
    var description: String { description(configuration.accessibility.description) }

    /// - Parameter accessibility: The text for the accessibility, in services that contain it.
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

    /// The items that it stands for, as bytes, because keychains compare bytes. Swift considers different texts with
    /// the same look equal.
    var name: [[UInt8]] {
        [accessGroup ?? "", description, configuration.isSynchronizable ? "synchronizable" : ""].map { Array($0.utf8) }
    }

    /// Also distinguishes how the same items are stored.
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

    /// A description for people.
    var summary: String { "\(identifier) \(configuration.prettyDescription)" }

    /// `nil`: the program's default group.
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
    /// The attributes that find the items of the service, and that new items have.
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

    /// The attributes that find the items of a service in this valet's group and of its kind, with any accessibility.
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
