// SPDX-License-Identifier: Apache-2.0
// What two or three processes do at once.

/// Processes, each with its calls.
struct Scenario: Sendable {
    let name: String
    let template: Template
    /// For each process its calls, as words.
    let processes: [[String]]
    /// What may open the vault afterwards; `nil`: what opened it before.
    var openers: [Set<Opener>]?
    /// Reasons for which a call may be refused, and then has changed nothing.
    var refusals: Set<String> = []
    /// Whether unlocking one process unlocks all, by the kernel's keyring; the vault is locked at first.
    var isSharedByKernel = false

    static func named(_ name: String) -> Scenario? { all.first { $0.name == name } }

    /// Another program removes the lock file.
    static let removal = "remove-lock-file"

    static let all: [Scenario] =
        [
            Scenario(
                name: "saves and a removal", template: .plain,
                processes: [["save a 1", "save a 2"], ["save a 3", "remove a"]]),
            Scenario(
                name: "timed save beside a save", template: .plain,
                processes: [["timed-save a 1"], ["save a 2", "read a"]]),
            Scenario(
                name: "timed removal beside a save", template: .plain,
                processes: [["timed-remove item-0"], ["save item-0 new", "read item-0"]]),
            Scenario(
                name: "timed save beside a save without the lock file", template: .plain,
                processes: [["timed-save a 1"], [removal], ["save a 2", "read a"]],
                refusals: ["unavailable"]),
            Scenario(
                name: "two first writes", template: .none, processes: [["add a 1"], ["add b 2"]],
                openers: [[.deviceKey]]),
            Scenario(
                name: "writes beside a rotation", template: .protected,
                processes: [["add a 1", "update item-3 new"], ["rotate"]]),
            Scenario(
                name: "write beside a rotation without the lock file", template: .protected,
                processes: [["add a 1"], [removal], ["rotate"]], refusals: ["unavailable"]),
            Scenario(
                name: "removal beside a rotation without the lock file", template: .protected,
                processes: [["remove item-2"], [removal], ["rotate"]], refusals: ["unavailable"]),
            Scenario(name: "two rotations", template: .protected, processes: [["rotate"], ["rotate"]]),
            Scenario(
                name: "write beside the removal of the device key", template: .removable,
                processes: [["add a 1", "update item-3 new"], ["remove-device-key"]], openers: [[.recovery]],
                refusals: ["locked"]),
            Scenario(
                name: "write beside another recovery key", template: .protected,
                processes: [["add a 1"], ["change-recovery-key"]], openers: [[.newRecovery, .keyFile]]),
            Scenario(
                name: "rotation beside the removal of a key file", template: .protected,
                processes: [["rotate"], ["remove-key-file"]], openers: [[.recovery], [.recovery, .keyFile]]),
            Scenario(
                name: "three writers", template: .unclosed,
                processes: [["save a 1"], ["add a 2", "remove a"], ["update item-1 new"]]),
            Scenario(
                name: "write beside a restoration", template: .backedUp,
                processes: [["add a 1", "read a"], ["restore", "update item-3 new"]]),
            Scenario(name: "two restorations", template: .backedUp, processes: [["add a 1", "restore"], ["restore"]]),
        ] + (Place.canShare ? shared : [])

    private static let shared: [Scenario] = [
        Scenario(
            name: "reads beside an unlock and a lock for all", template: .protected,
            processes: [["unlock", "read item-0", "lock"], ["read item-0", "read item-0"]], isSharedByKernel: true),
        Scenario(
            name: "write beside a lock for all", template: .protected,
            processes: [["unlock", "add a 1", "read a"], ["lock", "unlock"]], isSharedByKernel: true),
        Scenario(
            name: "locks and unlocks for all", template: .protected,
            processes: [["unlock", "lock"], ["unlock", "read item-0"]], isSharedByKernel: true),
    ]
}
