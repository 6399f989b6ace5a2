// SPDX-License-Identifier: Apache-2.0
// What is shown of an item: its attributes as text, never its value.

import ArgumentParser
import Foundation
import KeychainEngine

struct ListedItem {
    let itemClass: ItemClass
    let reference: PersistentReference?
    private let attributes: Attributes

    init(itemClass: ItemClass, _ record: Outcome.Record) {
        self.itemClass = itemClass
        reference = record.persistentReference
        attributes = record.attributes
    }

    var service: String? { text(.service) }
    var server: String? { text(.server) }
    var account: String? { text(.account) }
    var label: String? { text(.label) }
    var accessGroup: String? { text(.accessGroup) }
    var path: String? { text(.path).flatMap { $0.isEmpty ? nil : $0 } }
    var protocolCode: String? { text(.protocol).flatMap { $0 == "0" ? nil : $0 } }
    var isSynchronizable: Bool { number(.synchronizable) != 0 }
    var created: Date? { date(.creationDate) }
    var modified: Date? { date(.modificationDate) }

    /// Zero stands for none; text that is no number in print, such as "080", counts as the number it reads as.
    var port: Int64? {
        let port = text(.port).flatMap { Int64($0) }
        return port == 0 ? nil : port
    }

    var accessibility: String? {
        guard case .string(let name) = attributes[.accessible] else { return nil }
        return Accessibility(rawValue: name)?.name
    }

    // MARK: - Values as text

    /// Text as it is; bytes as text if they are text, else in hexadecimal; `nil` if the item has no such attribute.
    private func text(_ attribute: Attribute) -> String? {
        switch attributes[attribute] {
        case .string(let text): text
        case .data(let bytes): String(validating: bytes, as: UTF8.self) ?? bytes.hexadecimal
        case .number(let number): String(number)
        case .date, .bool, .unsupported, nil: nil
        }
    }

    private func number(_ attribute: Attribute) -> Int64 {
        if case .number(let number) = attributes[attribute] { number } else { 0 }
    }

    private func date(_ attribute: Attribute) -> Date? {
        guard case .date(let seconds) = attributes[attribute] else { return nil }
        return Date(timeIntervalSinceReferenceDate: seconds)
    }
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

/// An accessibility class on the command line: `after-first-unlock`, `afterFirstUnlock` as in JSON, or `ck` as Apple has it.
struct AccessibilityName: ExpressibleByArgument {
    let accessibility: Accessibility

    static let help = Accessibility.allCases.map(\.word).joined(separator: ", ")

    init?(argument: String) {
        let found = Accessibility.allCases.first { [$0.word, $0.name, $0.rawValue].contains(argument) }
        guard let found else { return nil }
        accessibility = found
    }
}

extension Accessibility {
    /// The name in small letters with hyphens.
    fileprivate var word: String {
        name.map { $0.isUppercase ? "-" + $0.lowercased() : String($0) }.joined()
    }

    /// The name in JSON; it never changes.
    fileprivate var name: String {
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
