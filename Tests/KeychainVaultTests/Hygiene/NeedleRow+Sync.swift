// SPDX-License-Identifier: Apache-2.0
// Operations on a ring of machines.

extension NeedleRow {
    static let syncing: [NeedleRow] = [
        NeedleRow(
            "sync-found", .says("done", [.sharedFolder]), error: .says("unavailable"),
            cancelled: .says("cancelled", [.sharedFolder]), timedOut: .says("busy", [.sharedFolder])),
        NeedleRow(
            "sync-invite", .says("done", [.ring]), error: .says("unavailable"),
            cancelled: .says("cancelled", [.ring]), timedOut: .says("busy", [.ring])),
        NeedleRow(
            "sync-join", .says("done", [.admission]), error: .says("itemNotFound", [.invitation]),
            cancelled: .says("cancelled", [.invitation]), timedOut: .says("timedOut", [.invitation])),
        NeedleRow(
            "sync-join-recovery", .says("done", [.recoveryRing]), error: .says("itemNotFound", [.recoveryRing]),
            cancelled: .says("cancelled", [.recoveryRing]), timedOut: .says("busy", [.recoveryRing])),
        NeedleRow(
            "sync-exchange", .says("done", [.ring]), error: .says("unavailable", [.ringWithoutFolder]),
            cancelled: .says("cancelled", [.ring]), timedOut: .says("busy", [.ring])),
        NeedleRow(
            "sync-remove", .says("done", [.ring]), error: .says("itemNotFound", [.ring]),
            cancelled: .says("cancelled", [.ring]), timedOut: .says("busy", [.ring])),
        NeedleRow(
            "sync-restore", .says("done", [.conflict]), error: .says("itemNotFound", [.conflict]),
            timedOut: .says("busy", [.conflict])),
        NeedleRow(
            "sync-recovery-key", .says("done", [.ring]), error: .says("unavailable"),
            cancelled: .says("cancelled", [.ring]), timedOut: .says("busy", [.ring])),
    ]
}
