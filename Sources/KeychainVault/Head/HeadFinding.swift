// SPDX-License-Identifier: Apache-2.0
// How a vault differs from its head, or from this machine's record of it.

import Foundation
import KeychainEngine

/// One difference between a vault and its last known state.
public enum HeadFinding: Hashable, Sendable {
    /// This machine has seen a state that came this many changes later; `nil` if the number is unknown.
    case older(changes: UInt64?)
    /// This machine has seen the vault with a head, but it now has an older format without one.
    case formerFormat
    /// The format number does not match the tables.
    case changedFormat
    /// The head is missing, or does not open.
    case unreadableHead
    /// Rows that are missing; `added` is the opposite.
    case missing(Part, UInt64)
    case added(Part, UInt64)
    /// The number of rows is right, but some rows differ.
    case changed(Part)
    /// The keybag is not the one that was stored last.
    case otherKeybag

    /// The parts of a vault.
    public enum Part: String, Hashable, Sendable {
        case items, index, quarantine
        /// What the vault stores of the ring that it is in, and changes that have not been sent.
        case ring
    }

    /// Part of a sentence about the vault.
    public var message: String {
        switch self {
        case .older(let changes?):
            "it is \(Self.count(changes, "change")) older than the last state seen on this machine"
        case .older(nil): "it is older than the last state seen on this machine"
        case .formerFormat: "its format is older than the last one seen on this machine"
        case .changedFormat: "its format number was changed"
        case .unreadableHead: "its head, which counts its rows, is missing or damaged"
        case .missing(let part, let count): Self.number(part, count) + " missing"
        case .added(let part, let count): Self.number(part, count) + " there that the vault did not store"
        case .changed(.items): "rows were changed outside swift-keychain"
        case .changed(.index): "entries of the index were changed outside swift-keychain"
        case .changed(.quarantine): "quarantined rows were changed outside swift-keychain"
        case .changed(.ring):
            "what it stores about syncing was changed outside swift-keychain; accepting it ends syncing"
        case .otherKeybag: "its keybag is not the one that was stored last"
        }
    }

    private static func number(_ part: Part, _ count: UInt64) -> String {
        let what =
            switch part {
            case .items: Self.count(count, "item")
            case .index: count == 1 ? "1 entry of the index" : "\(count) entries of the index"
            case .quarantine: count == 1 ? "1 quarantined row" : "\(count) quarantined rows"
            case .ring: count == 1 ? "1 row about syncing" : "\(count) rows about syncing"
            }
        return what + (count == 1 ? " is" : " are")
    }

    private static func count(_ count: UInt64, _ what: String) -> String {
        count == 1 ? "1 \(what)" : "\(count) \(what)s"
    }

    fileprivate var withoutCount: HeadFinding {
        switch self {
        case .missing(let part, _): .missing(part, 0)
        case .added(let part, _): .added(part, 0)
        default: self
        }
    }

    /// The finding for the number of rows in a part; `nil` if it is the expected one.
    static func count(_ part: Part, _ found: UInt64, expected: UInt64) -> HeadFinding? {
        if found == expected { return nil }
        return found < expected ? .missing(part, expected - found) : .added(part, found - expected)
    }
}

/// The differences between a vault and its last known state, and the state in which they were found.
public struct HeadReport: Hashable, Sendable {
    public let findings: [HeadFinding]
    /// A digest of everything that a head covers, and of the head itself.
    let state: Data
}

extension [HeadFinding] {
    fileprivate var advice: String {
        let isOfIndexAlone = allSatisfy { finding in
            [.missing(.index, 0), .added(.index, 0), .changed(.index)].contains(finding.withoutCount)
        }
        return isOfIndexAlone
            ? "Run: keychainctl doctor --repair. If that does not help, run: keychainctl accept"
            : "Restore a backup, or accept the vault as it is: keychainctl accept"
    }

    /// All of them as the end of one sentence.
    public var sentence: String { map(\.message).joined(separator: "; ") }
}

extension KeychainError {
    static func rolledBack(_ findings: [HeadFinding], _ location: VaultLocation) -> KeychainError {
        KeychainError(
            .rolledBack,
            "The vault '\(location.folder)' differs from its last known state: \(findings.sentence). Reading works; nothing was "
                + "written. " + findings.advice)
    }
}
