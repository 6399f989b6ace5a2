// SPDX-License-Identifier: Apache-2.0
// Every operation on secrets, and every way in which it may end.

import Testing

/// One operation and one end of it.
struct NeedleCase: Sendable, CustomTestStringConvertible {
    enum Outcome: String, Sendable, CaseIterable {
        case ok, error, cancelled
        case timedOut = "timed-out"
    }

    /// What is done to the vault before.
    enum Preparation: Sendable {
        /// The device key still opens the vault.
        case opensByItself
        /// The program does not unlock the vault before.
        case closed
        case withoutDeviceKey
        case credential, wrongCredential
        case damagedValue, damagedIndex, quarantinedItem
        case backup, damagedBackup
        /// In a ring with another machine, from which an item comes, or with two values of one item.
        case ring, conflict
        /// Another machine is in a ring, and has invited this one; it may be about to admit it.
        case invitation, admission
        /// Another machine is in a ring with a recovery key.
        case recoveryRing
        /// The folder of a ring, with nothing in it; and a ring whose folder is gone.
        case sharedFolder, ringWithoutFolder
    }

    let operation: String
    let outcome: Outcome
    /// What the operation has to say, so that it is known to have ended in that way.
    let says: String
    let preparations: Set<Preparation>

    var testDescription: String { "\(operation), \(outcome.rawValue)" }
}

/// How an operation ends with one outcome.
enum NeedleEnd: Sendable {
    case says(String, Set<NeedleCase.Preparation> = [])
    case cannotHappen(String)

    static let done = NeedleEnd.says("done")
    static let cancelled = NeedleEnd.says("cancelled")
    static let timedOut = NeedleEnd.says("timedOut")
    static let busy = NeedleEnd.says("busy")
    static let refused = NeedleEnd.says("authenticationFailed")
    static let cannotBeCancelled = NeedleEnd.cannotHappen("The call has no task and no gate that could end it.")
    static let waitsForNobody = NeedleEnd.cannotHappen("The call waits for no other program, and has no time limit.")
}

/// One operation with all its ends.
struct NeedleRow: Sendable {
    let operation: String
    let ends: [(outcome: NeedleCase.Outcome, end: NeedleEnd)]

    init(
        _ operation: String, _ ok: NeedleEnd, error: NeedleEnd, cancelled: NeedleEnd = .cannotBeCancelled,
        timedOut: NeedleEnd
    ) {
        self.operation = operation
        ends = [(.ok, ok), (.error, error), (.cancelled, cancelled), (.timedOut, timedOut)]
    }

    var cases: [NeedleCase] {
        ends.compactMap { outcome, end in
            guard case .says(let words, let preparations) = end else { return nil }
            return NeedleCase(operation: operation, outcome: outcome, says: words, preparations: preparations)
        }
    }

    static let all: [NeedleRow] = items + unlocking + protectors + maintenance + syncing

    /// An item that is damaged has the vault refuse every change: it is not as it was left.
    private static let items: [NeedleRow] = [
        NeedleRow(
            "save", .done, error: .says("rolledBack", [.damagedValue]), cancelled: .cancelled, timedOut: .timedOut),
        NeedleRow("create", .done, error: .says("duplicateItem"), cancelled: .cancelled, timedOut: .timedOut),
        NeedleRow("update", .done, error: .says("own error"), cancelled: .cancelled, timedOut: .timedOut),
        NeedleRow(
            "remove", .done, error: .says("rolledBack", [.damagedValue]), cancelled: .cancelled, timedOut: .timedOut),
        NeedleRow(
            "read", .done, error: .says("corrupt", [.damagedValue]), cancelled: .cancelled, timedOut: .timedOut),
        NeedleRow("list", .done, error: .says("locked", [.closed]), cancelled: .cancelled, timedOut: .timedOut),
        NeedleRow("transaction", .done, error: .says("own error"), cancelled: .cancelled, timedOut: .timedOut),
        NeedleRow("prompt", .done, error: .refused, cancelled: .cancelled, timedOut: .timedOut),
    ]

    private static let unlocking: [NeedleRow] = [
        NeedleRow("unlock-passphrase", .closed, error: .closedRefused, timedOut: .waitsForNobody),
        NeedleRow("unlock-key-file", .closed, error: .closedRefused, timedOut: .waitsForNobody),
        NeedleRow("unlock-recovery-key", .closed, error: .closedRefused, timedOut: .waitsForNobody),
        NeedleRow(
            "unlock-credential", .says("done", [.closed, .credential]),
            error: .says("authenticationFailed", [.closed, .wrongCredential]), timedOut: .waitsForNobody),
        NeedleRow(
            "unlock-device-key", .says("done", [.closed, .opensByItself]), error: .closedRefused,
            timedOut: .waitsForNobody),
        NeedleRow(
            "lock", .closed, error: .says("unsupported", [.closed, .opensByItself]), timedOut: .waitsForNobody),
    ]

    private static let protectors: [NeedleRow] = [
        NeedleRow("protect-add-passphrase", .done, error: .refused, timedOut: .busy),
        NeedleRow("protect-add-recovery-key", .done, error: .refused, timedOut: .busy),
        NeedleRow("protect-change", .done, error: .refused, timedOut: .busy),
        NeedleRow("protect-remove", .done, error: .refused, timedOut: .busy),
        NeedleRow("rotate", .done, error: .refused, timedOut: .busy),
        NeedleRow(
            "adopt", .says("done", [.withoutDeviceKey]), error: .says("authenticationFailed", [.withoutDeviceKey]),
            timedOut: .says("busy", [.withoutDeviceKey])),
    ]

    private static let maintenance: [NeedleRow] = [
        NeedleRow("backup", .done, error: .says("duplicateItem", [.backup]), timedOut: .waitsForNobody),
        NeedleRow(
            "restore", .says("done", [.backup]), error: .says("corrupt", [.damagedBackup]),
            timedOut: .says("busy", [.backup])),
        NeedleRow(
            "accept", .says("done", [.damagedValue]), error: .says("locked", [.closed, .withoutDeviceKey]),
            timedOut: .says("busy", [.damagedValue])),
        NeedleRow(
            "unquarantine", .says("done", [.quarantinedItem]), error: .says("itemNotFound"),
            timedOut: .says("busy", [.quarantinedItem])),
        NeedleRow(
            "quarantined", .says("done", [.quarantinedItem]), error: .says("done", [.quarantinedItem, .closed]),
            timedOut: .waitsForNobody),
        NeedleRow(
            "purge", .says("done", [.quarantinedItem]), error: .says("itemNotFound"),
            timedOut: .says("busy", [.quarantinedItem])),
        NeedleRow("examine", .done, error: .says("done", [.damagedValue]), timedOut: .waitsForNobody),
        NeedleRow(
            "repair", .says("done", [.damagedIndex]), error: .says("locked", [.closed, .withoutDeviceKey]),
            timedOut: .says("busy", [.damagedIndex])),
    ]
}

extension NeedleEnd {
    fileprivate static let closed = NeedleEnd.says("done", [.closed])
    fileprivate static let closedRefused = NeedleEnd.says("authenticationFailed", [.closed])
}
