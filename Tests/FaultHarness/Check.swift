// SPDX-License-Identifier: Apache-2.0
// The invariant: what a vault has to be after a fault.

import Foundation
import KeychainEngine
import KeychainVault

/// Looks at a vault as a process that comes after the fault, and uses it.
struct Check {
    let place: Place
    /// The states that it may be in.
    let allowed: [VaultState]
    /// Whether there may be no vault at all.
    let mayBeAbsent: Bool

    /// - Throws: What does not hold.
    func run() throws {
        try examine("at first")
        let vault = try place.another()
        guard try said("its status", { try vault.status() }).exists else { return try checkAbsent(vault) }
        defer { forget(vault) }
        let found = try look(vault)
        guard let state = allowed.first(where: { $0 == found }) else { throw Violation(differing(found)) }
        try checkCounts(vault)
        try finishRotation(vault, state)
        try checkItems(vault, state, "after a rotation was finished")
        try writeAndRead(state)
        try examine("at the end")
    }

    /// The same for a vault that has lost a file: it may lack items, or refuse to be used, and shows nothing that never was.
    func runMaimed() throws {
        let known = allowed.reduce(into: Set<String>()) { $0.formUnion($1.items.map { "\($0) \($1)" }) }
        do {
            let vault = try place.another()
            guard try vault.status().exists else { return }
            defer { forget(vault) }
            for opener in Opener.allCases where try opens(opener, vault) {
                let items = try Items.all(vault)
                guard known.isSuperset(of: items.map { "\($0) \($1)" }) else {
                    throw Violation("items that never were: \(items.keys.sorted())")
                }
            }
            let status = try vault.status()
            guard status.damagedCount == 0, status.quarantinedCount == 0 else {
                throw Violation("\(status.damagedCount) damaged, \(status.quarantinedCount) in quarantine")
            }
        } catch is KeychainError {
            // Refused, with a reason.
        }
    }

    /// Unlocking counts for the process, which will look at other copies of this vault.
    private func forget(_ vault: Vault) {
        do {
            try vault.lock(forgettingFirstUnlock: true)
        } catch {
            // One that opens by itself says that it stays open.
        }
    }

    private func checkAbsent(_ vault: Vault) throws {
        guard mayBeAbsent else { throw Violation("the vault is gone") }
        try said("making the vault", { try vault.add("afterwards", "written") })
        guard try Items.all(try place.another()) == ["afterwards": "written"] else {
            throw Violation("a vault that was made afterwards does not hold what was stored in it")
        }
    }

    /// What is in the vault, and what opens it.
    private func look(_ vault: Vault) throws -> VaultState {
        var openers: Set<Opener> = []
        for opener in Opener.allCases where try opens(opener, vault) { openers.insert(opener) }
        guard !openers.isEmpty else { throw Violation("nothing opens the vault") }
        return VaultState(items: try said("reading", { try Items.all(vault) }), openers: openers)
    }

    private func opens(_ opener: Opener, _ vault: Vault) throws -> Bool {
        if opener == .deviceKey { return try said("its openers", { try vault.opensByItself }) }
        do {
            try vault.unlock(opener.secret)
            return true
        } catch  where error.reason == .authenticationFailed || error.reason == .itemNotFound {
            return false
        } catch {
            throw Violation("unlocking with \(opener.rawValue): \(error.reason.rawValue): \(error.message)")
        }
    }

    private func checkCounts(_ vault: Vault) throws {
        let status = try said("its status", { try vault.status() })
        let counts = [
            ("damaged", status.damagedCount), ("in quarantine", status.quarantinedCount),
            ("closed", status.lockedCount), ("of another device", status.ofAnotherDeviceCount),
        ]
        for (what, count) in counts where count > 0 { throw Violation("\(count) items are \(what)") }
    }

    private func finishRotation(_ vault: Vault, _ state: VaultState) throws {
        guard try said("its status", { try vault.status() }).isRotating else { return }
        _ = try said("finishing the rotation", { try vault.rotate(authority: state.person?.secret) })
        guard try !vault.status().isRotating else { throw Violation("a rotation cannot be finished") }
        try unlock(vault, state)
    }

    private func checkItems(_ vault: Vault, _ state: VaultState, _ when: String) throws {
        let items = try said("reading \(when)", { try Items.all(vault) })
        guard items == state.items else { throw Violation("\(when): " + Self.difference(state.items, items)) }
    }

    /// As another process, which has to see the same and may write.
    private func writeAndRead(_ state: VaultState) throws {
        let vault = try place.another()
        try unlock(vault, state)
        try checkItems(vault, state, "in a second process")
        try said("writing", { try vault.add("afterwards", "written") })
        var expected = state
        expected.items["afterwards"] = "written"
        let third = try place.another()
        try unlock(third, state)
        try checkItems(third, expected, "after writing")
    }

    private func unlock(_ vault: Vault, _ state: VaultState) throws {
        guard let person = state.person else { return }
        try said("unlocking", { try vault.unlock(person.secret) })
    }

    private func examine(_ when: String) throws {
        let problems = Vault.examine(try place.location(), Place.settings()).filter { $0.severity == .problem }
        guard let problem = problems.first else { return }
        throw Violation("the examination \(when): \(problem.check): \(problem.message)")
    }

    // MARK: - Words

    @discardableResult
    private func said<Result>(_ what: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as KeychainError {
            throw Violation("\(what): \(error.reason.rawValue): \(error.message)")
        }
    }

    private func differing(_ found: VaultState) -> String {
        allowed.map { state in
            let openers = found.openers.map(\.rawValue).sorted().joined(separator: "+")
            return state.items == found.items
                ? "opens with \(openers)" : Self.difference(state.items, found.items)
        }.joined(separator: "; or: ")
    }

    private static func difference(_ expected: [String: String], _ found: [String: String]) -> String {
        let lost = expected.keys.filter { found[$0] == nil }.sorted()
        let added = found.keys.filter { expected[$0] == nil }.sorted()
        let changed = expected.keys.filter { found[$0] != nil && found[$0] != expected[$0] }.sorted()
        return "missing \(lost), unexpected \(added), with another value \(changed)"
    }
}

extension VaultState {
    /// What unlocks it and may vouch for changes; `nil` if it opens with the device key alone.
    var person: Opener? { [.recovery, .newRecovery].first { openers.contains($0) } }
}

/// Something that has to hold and does not.
struct Violation: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
