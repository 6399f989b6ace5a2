// SPDX-License-Identifier: Apache-2.0
// How a vault differs from what its head says, or from what this machine has seen of it.

import Foundation
import KeychainEngine

/// One way in which a vault is not as it was left.
public enum HeadFinding: Hashable, Sendable {
    /// This machine has seen a state that came this many changes later; `nil` if it cannot be said how many.
    case older(changes: UInt64?)
    /// This machine has seen the vault with a head, and it has none: its format is an older one.
    case formerFormat
    /// The number of the format does not fit the tables.
    case changedFormat
    /// The head is gone, or does not open.
    case unreadableHead
    /// Rows that should be there and are not; and the other way round.
    case missing(Part, UInt64)
    case added(Part, UInt64)
    /// As many rows as there should be, and not the same.
    case changed(Part)
    /// The keybag is not the one that was stored last.
    case otherKeybag

    /// What the vault is made of.
    public enum Part: String, Hashable, Sendable {
        case items, index, quarantine
    }

    /// Part of a sentence about the vault.
    public var message: String {
        switch self {
        case .older(let changes?): "it is older by \(Self.count(changes, "change")) than this machine has seen"
        case .older(nil): "it is older than this machine has seen"
        case .formerFormat: "its format is older than this machine has seen"
        case .changedFormat: "the number of its format was changed"
        case .unreadableHead: "what says how much is in it is missing or damaged"
        case .missing(let part, let count): Self.number(part, count) + " missing"
        case .added(let part, let count): Self.number(part, count) + " there that it did not store"
        case .changed(.items): "rows were changed behind its back"
        case .changed(.index): "entries of the index were changed behind its back"
        case .changed(.quarantine): "quarantined rows were changed behind its back"
        case .otherKeybag: "its keybag is not the one that was stored last"
        }
    }

    private static func number(_ part: Part, _ count: UInt64) -> String {
        let what =
            switch part {
            case .items: Self.count(count, "item")
            case .index: count == 1 ? "1 entry of the index" : "\(count) entries of the index"
            case .quarantine: count == 1 ? "1 quarantined row" : "\(count) quarantined rows"
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

    /// What a part holds, against what it should.
    static func count(_ part: Part, _ found: UInt64, expected: UInt64) -> HeadFinding? {
        if found == expected { return nil }
        return found < expected ? .missing(part, expected - found) : .added(part, found - expected)
    }
}

/// In what a vault is not as it was left, and in which state of the vault that was found.
public struct HeadReport: Hashable, Sendable {
    public let findings: [HeadFinding]
    /// A digest of all that a head covers, and of the head itself.
    let state: Data
}

extension [HeadFinding] {
    fileprivate var advice: String {
        let isOfIndexAlone = allSatisfy { finding in
            [.missing(.index, 0), .added(.index, 0), .changed(.index)].contains(finding.withoutCount)
        }
        return isOfIndexAlone
            ? "Run: keychainctl doctor --repair; if that does not help: keychainctl accept"
            : "Restore a backup, or take the vault as it is: keychainctl accept"
    }

    /// All of them in one sentence's end.
    public var sentence: String { map(\.message).joined(separator: "; ") }
}

extension KeychainError {
    static func rolledBack(_ findings: [HeadFinding], _ location: VaultLocation) -> KeychainError {
        KeychainError(
            .rolledBack,
            "The vault '\(location.folder)' is not as it was left: \(findings.sentence). Reading works, and nothing was "
                + "written. " + findings.advice)
    }
}
