// SPDX-License-Identifier: Apache-2.0
// How many versions of an item are kept, and for how long. The vault has these settings, sealed like any item.

import Foundation
import KeychainEngine
import KeychainKit

struct HistorySettings: Codable, Equatable {
    static let standard = HistorySettings()

    /// Of one item.
    var versions = 10
    var days = 30
    var isOn = true
    /// The last day on which versions of all items were dropped that were too old.
    var swept: Int?

    static let mostVersions = 1000
    static let mostDays = 3650

    func isOutdated(_ version: KeptVersion, at now: Date) -> Bool {
        KeptVersion.day(of: version.date) < KeptVersion.day(of: now) - days
    }

    /// The days whose versions have become too old since the last sweep; `nil` if there may be too many to go through.
    ///
    /// - Parameter today: Counted from 1970.
    func outdatedDays(on today: Int) -> Range<Int>? {
        // After the clock was put back, nothing is done until it is where it was.
        guard let swept, swept < today else { return 0..<0 }
        return today - swept > 400 ? nil : (swept - days)..<(today - days)
    }
}

// MARK: - In the vault

extension HistorySettings {
    private static let service = "swift-keychain.history"

    private static var selection: Selection {
        var conditions = Attributes()
        conditions[.service] = .string(service)
        return InternalItem.selection(conditions)
    }

    /// - Returns: The standard settings if there are none, or none that can be read.
    static func read(_ items: any ItemOperations) throws(KeychainError) -> HistorySettings {
        let found = try items.select(selection, limit: 1, includingValues: false, .none)
        guard let stored = found.items.first, case .data(let text) = stored.item.attributes[.comment] else {
            return .standard
        }
        do { return try JSONDecoder().decode(HistorySettings.self, from: text) } catch { return .standard }
    }

    func write(_ items: any ItemOperations, at date: Date) throws(KeychainError) {
        var attributes = InternalItem.attributes(service: Self.service, account: "", at: date)
        do {
            attributes[.comment] = .data(try JSONEncoder().encode(self))
        } catch {
            throw KeychainError(.invalidParameter, "The settings of the history cannot be stored.")
        }
        // A command may change an item that is open while the vault is locked, and needs the settings then.
        let item = Item(
            itemClass: .genericPassword, attributes: attributes, accessControl: AccessControl(.always), value: nil)
        let replaced = try items.update(Self.selection, .none) { (_) throws(KeychainError) in item }
        if replaced.items.isEmpty { _ = try items.insert(item, .none) }
    }
}
