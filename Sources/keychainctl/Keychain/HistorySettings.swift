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
    /// Mebibytes that the values of one item's versions may take together; `nil`: the standard.
    var size: Int?
    /// The day of the last change, on which versions of all items were dropped that were too old.
    var swept: Int?
    /// The days between changes that may have been steps of the clock, the longest and earliest first.
    var pauses: [Pause]?
    /// When the clock was put back to a day before a change that was kept, the earliest and longest first.
    var setbacks: [ClockSetback]?

    static let mostVersions = 1000
    static let mostDays = 3650
    static let standardSize = 64
    static let largestSize = 65536

    /// The versions of one item that are beyond the bounds. The newest one is kept whatever its size is. What came before one that is too
    /// old is older, whatever the clock has shown then.
    ///
    /// - Parameters:
    ///   - earlier: The newest first.
    ///   - newest: The size of a version that is newer than these; `nil` if there is none.
    func excess(_ earlier: some Sequence<KeptVersion>, after newest: Int? = nil, at now: Date) -> [KeptVersion] {
        var (count, bytes) = (newest == nil ? 0 : 1, newest ?? 0)
        var (excess, isTooOld): ([KeptVersion], Bool) = ([], false)
        for version in earlier {
            bytes += version.size
            let isBeyond = count > 0 && (count >= versions || bytes > mostBytes)
            isTooOld = isTooOld || isOutdated(version, at: now)
            if isBeyond || isTooOld { excess.append(version) } else { count += 1 }
        }
        return excess
    }

    private var mostBytes: Int { (size ?? Self.standardSize) << 20 }

    func isOutdated(_ version: KeptVersion, at now: Date) -> Bool {
        KeptVersion.day(of: version.date) < firstKeptDay(on: KeptVersion.day(of: now))
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

    /// Outside a transaction it is no use of an unlocked vault.
    ///
    /// - Returns: The standard settings if there are none.
    /// - Throws: `corrupt` if they cannot be read. The standard ones would keep what the user may not want to be kept.
    static func read(_ items: any ItemOperations) throws(KeychainError) -> HistorySettings {
        let found = try items.select(selection, limit: 1, includingValues: false, Authorization.none.looking)
        guard let stored = found.items.first else {
            guard found.failure == nil else { throw .damagedSettings }
            return .standard
        }
        guard case .data(let text) = stored.item.attributes[.comment],
            let settings = try? JSONDecoder().decode(HistorySettings.self, fromAny: text), settings.isPossible
        else { throw .damagedSettings }
        return settings
    }

    /// For a change, which repairs settings that cannot be read.
    static func readOrStandard(_ items: any ItemOperations) throws(KeychainError) -> HistorySettings {
        do throws(KeychainError) {
            return try read(items)
        } catch {
            guard error.reason == .corrupt else { throw error }
            return .standard
        }
    }

    private var isPossible: Bool {
        (1...Self.mostVersions).contains(versions) && (1...Self.mostDays).contains(days)
            && (1...Self.largestSize).contains(size ?? Self.standardSize)
            && (pauses ?? []).allSatisfy(\.isPossible) && (setbacks ?? []).allSatisfy(\.isPossible)
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

extension KeychainError {
    fileprivate static let damagedSettings = KeychainError(
        .corrupt,
        "The settings of the history are damaged, so nothing was changed. To set them again: keychainctl history --keep 10 "
            + "--days 30. If that fails: keychainctl doctor")
}
