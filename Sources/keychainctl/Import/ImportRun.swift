// SPDX-License-Identifier: Apache-2.0
// Stores imported entries one by one, reads each one back, and reports each one at once.

import Foundation
import KeychainEngine
import KeychainKit

/// What happens to an item that exists with another value.
enum ImportConflicts {
    /// The item is kept, and the exit code says so.
    case report
    case keep
    case replace
}

enum ImportResult: String {
    case added, unchanged, replaced, kept, skipped, leftOut, failed
}

/// A run that can be continued: after the user has unlocked the vault, it goes on with the entry that failed.
final class ImportRun {
    private let keychain: any ItemStore
    private let accessGroup: String?
    private let conflicts: ImportConflicts
    private let report: ImportReport
    private var records: [ImportRecord]
    private(set) var position = 0
    /// The names so far, so that one entry of the source does not replace another one.
    private var done: [ItemName: Earlier] = [:]
    private(set) var counts: [ImportResult: Int] = [:]

    private static let tries = 3

    private typealias Outcome = (result: ImportResult, reason: String?)
    private typealias Earlier = (position: Int, outcome: Outcome)

    init(
        _ records: [ImportRecord], in keychain: any ItemStore, accessGroup: String?, _ conflicts: ImportConflicts,
        _ report: ImportReport
    ) {
        (self.records, self.keychain, self.accessGroup) = (records, keychain, accessGroup)
        (self.conflicts, self.report) = (conflicts, report)
    }

    func run() throws(KeychainError) {
        while position < records.count {
            let record = records[position]
            let (result, reason) = try outcome(of: record)
            counts[result, default: 0] += 1
            position += 1
            try report.write(record, result, reason)
        }
    }

    /// Overwrites the values.
    func wipe() {
        done = [:]
        for index in records.indices {
            guard case .item(var item) = records[index].content else { continue }
            // The value has one owner after this.
            records[index].content = .skipped(name: nil, reason: "")
            item.value.wipe()
        }
    }

    func count(_ result: ImportResult) -> Int { counts[result] ?? 0 }

    /// The number of entries that are stored now and were not before.
    var stored: Int { count(.added) + count(.replaced) }

    /// Whether the keychain has every entry with the value of the source.
    var hasEverything: Bool {
        position == records.count && count(.kept) + count(.skipped) + count(.failed) == 0
    }

    /// Reads all entries once more: another entry of the source, or another program, may have replaced or removed one.
    func isAllStillThere() throws(KeychainError) -> Bool {
        for case .item(let item) in records.map(\.content) {
            var isThere = false
            for store in item.stores(in: keychain, accessGroup: accessGroup) where !isThere {
                isThere = try store.read(Data.self, for: item.account) == item.value
            }
            guard isThere else { return false }
        }
        return true
    }

    private func outcome(of record: ImportRecord) throws(KeychainError) -> Outcome {
        switch record.content {
        case .skipped(_, let reason): return (.skipped, reason)
        case .leftOut(_, let reason): return (.leftOut, reason)
        case .item(let item):
            let name = ItemName(item)
            if let earlier = done[name] { return again(item, after: earlier) }
            let outcome = try storedOrFailed(item)
            done[name] = (position, outcome)
            return outcome
        }
    }

    private func again(_ item: ImportedItem, after earlier: Earlier) -> Outcome {
        let record = records[earlier.position]
        guard case .item(let other) = record.content, other.value == item.value else {
            return (.skipped, "the source has another value for this name before it (\(record.origin))")
        }
        switch earlier.outcome.result {
        case .added, .unchanged, .replaced:
            let others = item.differences(from: other.attributes)
            let reason = "the source has another \(others.listed) for it before this (\(record.origin)), which counts"
            return (.unchanged, others.isEmpty ? nil : reason)
        // The keychain does not have the value.
        case .kept, .skipped, .leftOut, .failed: return earlier.outcome
        }
    }

    /// Problems of one item do not stop the others.
    private func storedOrFailed(_ item: ImportedItem) throws(KeychainError) -> Outcome {
        do throws(KeychainError) {
            return try store(item)
        } catch {
            switch error.reason {
            case .interactionNotAllowed:
                return (.failed, "an item of this name requires authentication, so it was not compared")
            case .corrupt where error != .damagedItem: throw error
            case .tooLarge, .invalidParameter, .corrupt, .ofAnotherDevice, .typeMismatch:
                return (.failed, error.message)
            default: throw error
            }
        }
    }

    // MARK: - One item

    private func store(_ item: ImportedItem) throws(KeychainError) -> Outcome {
        let stores = item.stores(in: keychain, accessGroup: accessGroup)
        // Another program may add or remove the item meanwhile.
        for _ in 1...Self.tries {
            for store in stores {
                guard let existing = try store.read(Data.self, for: item.account) else { continue }
                return try resolve(item, existing, store)
            }
            if report.isDryRun { return (.added, nil) }
            do throws(KeychainError) {
                try stores[0].create(item.value, for: item.account, attributes: item.attributes)
                try checkStored(item, stores[0])
                return (.added, nil)
            } catch {
                guard error.reason == .duplicateItem else { throw error }
            }
        }
        throw KeychainError(.busy, "Another program keeps changing an item that is imported.")
    }

    private func resolve(
        _ item: ImportedItem, _ existing: Data, _ store: SecretStore
    ) throws(KeychainError) -> Outcome {
        if existing == item.value {
            let stored = try store.item(for: item.account)?.itemAttributes ?? ItemAttributes()
            let others = item.differences(from: stored)
            if others.isEmpty { return (.unchanged, nil) }
            guard case .replace = conflicts else {
                return (.unchanged, "the source has another \(others.listed), which --replace sets")
            }
        }
        guard case .replace = conflicts else { return (.kept, nil) }
        if report.isDryRun { return (.replaced, nil) }
        try store.save(item.value, for: item.account, attributes: item.attributes)
        try checkStored(item, store)
        return (.replaced, nil)
    }

    private func checkStored(_ item: ImportedItem, _ store: SecretStore) throws(KeychainError) {
        guard try store.read(Data.self, for: item.account) == item.value else {
            throw KeychainError(
                .typeMismatch, "the stored value differs from the source; perhaps another program has changed it")
        }
    }
}

/// The complete name of an item, compared byte by byte as the vault does.
private struct ItemName: Hashable {
    private let parts: [[UInt8]]

    init(_ item: ImportedItem) {
        let names: [String?] =
            switch item.place {
            case .service(let name): ["service", name]
            case .server(let server):
                [
                    "server", server.host, server.protocol?.rawValue, server.port.map { String($0) }, server.path,
                    server.securityDomain, server.authenticationType?.rawValue,
                ]
            }
        parts = (names + [item.account]).map { Array(($0 ?? "").utf8) }
    }
}

extension ImportedItem {
    /// Where the item may be, its own place first. Entries whose protocol is assumed were imported without one before.
    fileprivate func stores(in keychain: any ItemStore, accessGroup: String?) -> [SecretStore] {
        var places = [place]
        if isProtocolAssumed, case .server(var server) = place {
            server.protocol = nil
            places.append(.server(server))
        }
        return places.map { store(of: $0, in: keychain, accessGroup: accessGroup) }
    }

    private func store(of place: ImportedPlace, in keychain: any ItemStore, accessGroup: String?) -> SecretStore {
        let group = accessGroup ?? AccessGroups.unrestricted.defaultGroup
        var store =
            switch place {
            case .service(let name):
                SecretStore(service: name, accessGroup: group, store: keychain, accessGroups: .unrestricted)
            case .server(let server):
                SecretStore(server: server, accessGroup: group, store: keychain, accessGroups: .unrestricted)
            }
        store.allowsInteraction = false
        return store
    }

    fileprivate var attributes: ItemAttributes {
        ItemAttributes(label: label, comment: comment, itemDescription: kind, generic: generic)
    }

    /// What the source says of the item beside its value, where an item says something else or nothing.
    fileprivate func differences(from stored: ItemAttributes) -> [String] {
        let given = attributes
        let all = [
            ("label", given.label != nil && given.label != stored.label),
            ("comment", given.comment != nil && given.comment != stored.comment),
            ("kind", given.itemDescription != nil && given.itemDescription != stored.itemDescription),
            ("generic attribute", given.generic != nil && given.generic != stored.generic),
        ]
        return all.filter(\.1).map(\.0)
    }
}

extension [String] {
    fileprivate var listed: String { joined(separator: " and another ") }
}
