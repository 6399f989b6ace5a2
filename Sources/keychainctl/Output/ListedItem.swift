// SPDX-License-Identifier: Apache-2.0
// The displayed part of an item: its attributes as text, never its value.

import ArgumentParser
import Foundation
import KeychainKeyStore
import KeychainKit

struct ListedItem {
    let item: KeychainItem

    var itemClass: ItemClass { item.itemClass }
    var service: String? { item.displayText(of: .service) }
    var server: String? { item.displayText(of: .server) }
    var account: String? { item.displayText(of: .account) }
    var label: String? { item.displayText(of: .label) }
    var comment: String? { item.displayText(of: .comment) }
    var kind: String? { item.displayText(of: .itemDescription) }
    var path: String? { item.displayText(of: .path).flatMap { $0.isEmpty ? nil : $0 } }
    var securityDomain: String? { item.displayText(of: .securityDomain).flatMap { $0.isEmpty ? nil : $0 } }
    /// For keys.
    var tag: String? { item.itemClass == .key ? item.keyTag : nil }
    var accessGroup: String { item.accessGroup }
    /// The usual name of the protocol.
    var protocolName: String? { item.protocol.map { ProtocolCode.name(of: $0.rawValue) } }
    var port: Int? { item.port }
    var isSynchronizable: Bool { item.synchronizable }
    /// `nil` for an item of which only the name is shown.
    var created: Date? { item.created }
    var modified: Date? { item.modified }
    var expires: Date? { item.expiry }
    var requiresAuthentication: Bool { item.requiresAuthentication }
    var accessibility: String { item.accessibility.name }
}

extension ItemClass {
    /// The name in tables and in JSON; it never changes.
    var name: String {
        switch self {
        case .genericPassword: "generic-password"
        case .internetPassword: "internet-password"
        case .certificate: "certificate"
        case .key: "key"
        }
    }
}

/// An accessibility class on the command line: `after-first-unlock`, `afterFirstUnlock` as in JSON, or Apple's `ck`.
struct AccessibilityName: ExpressibleByArgument {
    let accessibility: Accessibility

    static let help = Accessibility.allCases.map(\.word).joined(separator: ", ")
    static let defaultCompletionKind = CompletionKind.list(Accessibility.allCases.map(\.word))

    init?(argument: String) {
        let found = Accessibility.allCases.first { [$0.word, $0.name, $0.rawValue].contains(argument) }
        guard let found else { return nil }
        accessibility = found
    }
}

extension Accessibility {
    /// The name in lower case with hyphens.
    fileprivate var word: String {
        name.map { $0.isUppercase ? "-" + $0.lowercased() : String($0) }.joined()
    }

    /// The name in JSON; it never changes.
    var name: String {
        switch self {
        case .whenUnlocked: "whenUnlocked"
        case .afterFirstUnlock: "afterFirstUnlock"
        case .always: "always"
        case .whenUnlockedThisDeviceOnly: "whenUnlockedThisDeviceOnly"
        case .afterFirstUnlockThisDeviceOnly: "afterFirstUnlockThisDeviceOnly"
        case .alwaysThisDeviceOnly: "alwaysThisDeviceOnly"
        case .whenPasscodeSetThisDeviceOnly: "whenPasscodeSetThisDeviceOnly"
        }
    }
}

extension Date {
    /// ISO 8601 in UTC.
    func timestamp(withFraction: Bool) -> String {
        formatted(ISO8601FormatStyle(includingFractionalSeconds: withFraction, timeZone: .gmt))
    }
}
