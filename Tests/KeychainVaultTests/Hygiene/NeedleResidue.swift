// SPDX-License-Identifier: Apache-2.0
// What of the secrets may be left in memory, and why: everything else may not.

/// Needles that operations may leave in ordinary memory. `Docs/THREATS.md` says the same in words.
struct NeedleResidue: Sendable {
    let needles: Set<String>
    /// After which operations.
    let operations: Set<String>
    let reason: String

    static let all: [NeedleResidue] = [
        NeedleResidue(
            needles: ["value 10", "value 11", "value 12"],
            operations: ["save", "create", "update", "transaction", "read", "list"],
            reason: """
                A value passes through the interface as Data, which may be copied and is nobody's to overwrite. Where listing is \
                cancelled, others are saving meanwhile.
                """),
        NeedleResidue(
            needles: ["value 13"], operations: ["prompt"],
            reason: "The same; the caller overwrites its own copy."),
        NeedleResidue(
            needles: ["value 10"], operations: ["rotate", "protect-remove"],
            reason: "Values are sealed again, and are Data on the way from one key to the next."),
        NeedleResidue(
            needles: ["value 14", "value 15", "value 16", "value 17"],
            operations: ["sync-exchange", "sync-join", "sync-join-recovery", "sync-remove", "sync-restore"],
            reason: "Values that are sent or received are Data on the way between the vault and the ring."),
    ]

    /// In a core dump that is written directly after a call: what the cipher had in registers and on the stack, until the thread
    /// uses them again. The keys themselves are in memory that core dumps leave out.
    static let ofTheLastCall: Set = ["metadata key 6"]

    static func allows(_ found: NeedlePlace, _ entry: NeedleCase) -> Bool {
        all.contains { $0.needles.contains(found.needle) && $0.operations.contains(entry.operation) }
    }
}
