// SPDX-License-Identifier: Apache-2.0
// The operations: what each starts from, its calls, and what each call makes of the vault.

import KeychainEngine
import KeychainVault

/// One call, which the process acknowledges when it returns.
struct Step: Sendable {
    let run: @Sendable (Vault) throws -> Void
    let effect: @Sendable (inout VaultState) -> Void
    /// What the vault may be between the transactions of a call that has several.
    let between: [@Sendable (inout VaultState) -> Void]

    init(
        _ run: @escaping @Sendable (Vault) throws -> Void,
        _ effect: @escaping @Sendable (inout VaultState) -> Void = { _ in },
        between: [@Sendable (inout VaultState) -> Void] = []
    ) {
        (self.run, self.effect, self.between) = (run, effect, between)
    }
}

/// Something that programs do to a vault.
struct Operation: Sendable {
    let name: String
    let template: Template
    let steps: [Step]
    /// Whether the vault is opened, and unlocked, before faults begin.
    var isWarm = false
    /// Only every so many points are tried also in a full run, except for kills: each takes longer than those of other operations.
    var every = 1

    /// The vault before the first call and after each.
    var states: [VaultState] {
        steps.reduce(into: [template.state]) { states, step in
            guard var next = states.last else { return }
            step.effect(&next)
            states.append(next)
        }
    }

    /// The states that the vault may be in while the steps of the range are done, or after one of them.
    func allowed(_ steps: ClosedRange<Int>) -> [VaultState] {
        let between = (steps.lowerBound..<steps.upperBound).flatMap { number in
            self.steps[number].between.map { change in
                var state = states[number]
                change(&state)
                return state
            }
        }
        return states[steps] + between
    }

    /// Whether it puts another vault in the place of the one that is there.
    var restores: Bool { states.contains { $0.kept != nil } }

    /// Unlocks, before faults begin, what the steps need unlocked.
    func prepare(_ vault: Vault) throws {
        guard isWarm else { return }
        if template.state.openers.contains(.recovery) { try vault.unlock(Opener.recovery.secret) }
        _ = try Items.all(vault)
    }
}

extension Operation {
    static func named(_ name: String) -> Operation? { all.first { $0.name == name } }

    static let all: [Operation] =
        [
            Operation(name: "create", template: .none, steps: [create, add(100)]),
            Operation(name: "add", template: .plain, steps: [add(100)]),
            Operation(name: "add together", template: .plain, steps: [addTogether], isWarm: true),
            Operation(name: "add after a crash", template: .unclosed, steps: [add(100)]),
            Operation(name: "update", template: .plain, steps: [update(3)], isWarm: true),
            Operation(name: "delete", template: .plain, steps: [delete(4)], isWarm: true),
            Operation(name: "transaction", template: .unclosed, steps: [transaction], isWarm: true),
            Operation(
                name: "several", template: .plain,
                steps: [add(100), update(100), add(101), delete(3), update(4), delete(100), close, add(102)]),
            Operation(name: "read and close", template: .unclosed, steps: [read, close]),
            Operation(name: "unlock, add, lock", template: .protected, steps: [unlock, add(100), lock]),
            Operation(name: "add protector", template: .removable, steps: [addKeyFile]),
            Operation(name: "change protector", template: .protected, steps: [changeRecoveryKey]),
            Operation(name: "remove key file", template: .protected, steps: [removeKeyFile]),
            Operation(name: "remove device key", template: .removable, steps: [removeDeviceKey]),
            Operation(name: "rotate", template: .protected, steps: [rotate], isWarm: true),
            Operation(name: "finish rotation", template: .rotating, steps: [rotate]),
            Operation(name: "adopt", template: .ofAnotherDevice, steps: [adopt, close]),
        ] + copying + repairing + sharing

    // MARK: - Items

    private static let create = Step({ try $0.create() }, { $0.openers = [.deviceKey] })

    static func add(_ number: Int) -> Step {
        Step({ try $0.add("item-\(number)", "added") }, { $0.items["item-\(number)"] = "added" })
    }

    /// Three additions that one of three threads makes together. If a fault ends that, each makes its own.
    private static let addTogether = Step(
        { try Together($0).add(100..<103) }, { together([100, 101, 102], &$0) },
        between: [[100], [101], [102], [100, 101], [100, 102], [101, 102]].map { added in { together(added, &$0) } })

    private static func together(_ numbers: [Int], _ state: inout VaultState) {
        for number in numbers { state.items["item-\(number)"] = "added" }
    }

    private static func update(_ number: Int) -> Step {
        Step({ try $0.update("item-\(number)", "updated") }, { $0.items["item-\(number)"] = "updated" })
    }

    private static func delete(_ number: Int) -> Step {
        Step({ try $0.delete("item-\(number)") }, { $0.items["item-\(number)"] = nil })
    }

    /// Six items are added, three changed and three removed, as one.
    private static let transaction = Step(
        { vault in
            try Engine(store: vault).transaction(as: Items.query("")) { (requests) throws(KeychainError) in
                for number in 0..<3 {
                    try requests.add(Items.item("new-\(number)", "added"), accessGroups: .unrestricted)
                    _ = try requests.update(
                        Items.query("item-\(number)"), with: Items.changes("updated"), accessGroups: .unrestricted)
                    _ = try requests.delete(Items.query("item-\(number + 3)"), accessGroups: .unrestricted)
                    try requests.add(Items.item("large-\(number)", large), accessGroups: .unrestricted)
                }
            }
        },
        { state in
            for number in 0..<3 {
                state.items["new-\(number)"] = "added"
                state.items["item-\(number)"] = "updated"
                state.items["item-\(number + 3)"] = nil
                state.items["large-\(number)"] = large
            }
        })

    /// More than a page of the database.
    private static let large = String(repeating: "large ", count: 2000)

    private static let read = Step({ _ = try Items.all($0) })
    static let close = Step({ _ in try Vault.closeAll() })

    // MARK: - Keys

    static let unlock = Step({ try $0.unlock(Opener.recovery.secret) })
    static let lock = Step({ try $0.lock(forgettingFirstUnlock: true) })

    private static let addKeyFile = Step(
        { try $0.addProtector(Opener.keyFile.secret, authority: Opener.recovery.secret) },
        { $0.openers.insert(.keyFile) })

    static let changeRecoveryKey = Step(
        { vault in
            try vault.changeProtector(
                vault.slot(.recoveryKey), to: Opener.newRecovery.secret, authority: Opener.recovery.secret)
        },
        { state in
            state.openers.remove(.recovery)
            state.openers.insert(.newRecovery)
        })

    private static let removeKeyFile = Step(
        { try $0.removeProtector($0.slot(.keyFile), authority: Opener.recovery.secret) },
        { $0.openers.remove(.keyFile) })

    static let removeDeviceKey = Step(
        { try $0.removeProtector($0.slot(.deviceKey), authority: Opener.recovery.secret) },
        { $0.openers.remove(.deviceKey) })

    static let rotate = Step({ try $0.rotate(authority: Opener.recovery.secret) })
    private static let adopt = Step({ try $0.adoptDevice(authority: Opener.recovery.secret) })
}
