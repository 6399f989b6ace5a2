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
    /// Whether only the operation has changed the files.
    var isUntouched = true

    /// - Throws: What does not hold.
    func run() throws {
        let problem = try problem()
        let vault = try place.another()
        guard try said("its status", { try vault.status() }).exists else { return try checkAbsent(vault, problem) }
        defer { forget(vault) }
        let found = try said("looking at it") { try Look(place: place, expectsVaults: isUntouched).found(vault) }
        guard let state = allowed.first(where: { found.fits($0) }) else { throw Violation(differing(found)) }
        // What a vault that is not as it was left tells of itself is a problem.
        if found.isAsLeft, let problem { throw Violation("the examination at first: \(problem)") }
        try checkCounts(vault)
        try bringInOrder(vault, found, state)
        try finishRotation(vault, state)
        try checkItems(vault, state, "after a rotation was finished")
        try writeAndRead(state)
        try checkRing(vault, state)
        if let problem = try self.problem() { throw Violation("the examination at the end: \(problem)") }
        if let backup = found.backup { try restore(backup, state) }
    }

    /// Everything that waits is sent, and nothing else.
    private func checkRing(_ vault: Vault, _ state: VaultState) throws {
        guard state.outbox != nil else { return }
        let ring = Ring(place: place)
        let outbox = try said("its outbox", { try ring.outbox(vault) })
        guard outbox == state.outbox else { throw Violation("at last there are unsent \(outbox?.sorted() ?? [])") }
        let shared = state.items.filter { $0.key.hasPrefix("shared-") }
        let isRestored = state.kept != nil || state.head == .mayBeOlder
        try ring.check(
            isRestored ? nil : shared.merging(Ring.arriving) { $1 }, unlocking: state.person)
    }

    /// The same for a vault that has lost a file: it may lack items, or refuse to be used, and shows nothing that never was.
    func runMaimed() throws {
        let known = allowed.reduce(into: Set<String>()) { $0.formUnion($1.items.map { "\($0) \($1)" }) }
        do {
            let vault = try place.another()
            guard try vault.status().exists else { return }
            defer { forget(vault) }
            for opener in Opener.allCases where try Look.opens(opener, vault) {
                let items = try Items.all(vault)
                guard known.isSuperset(of: items.map { "\($0) \($1)" }) else {
                    throw Violation("items that never were: \(items.keys.sorted())")
                }
                try checkOutboxOfMaimed(vault)
            }
            let status = try vault.status()
            let quarantined = allowed.map(\.quarantined).max() ?? 0
            guard status.damagedCount == 0, status.quarantinedCount <= quarantined else {
                throw Violation("\(status.damagedCount) damaged, \(status.quarantinedCount) in quarantine")
            }
        } catch is KeychainError {
            // Refused, with a reason.
        }
    }

    private func checkOutboxOfMaimed(_ vault: Vault) throws {
        let outbox = try Ring(place: place).outbox(vault) ?? []
        let known = allowed.reduce(into: Set<String>()) { $0.formUnion($1.outbox ?? []) }
        guard known.isSuperset(of: outbox) else { throw Violation("unsent that never were: \(outbox.sorted())") }
    }

    /// Unlocking counts for the process, which will look at other copies of this vault.
    private func forget(_ vault: Vault) {
        do {
            try vault.lock(forgettingFirstUnlock: true)
        } catch {
            // One that opens by itself says that it stays open.
        }
    }

    private func checkAbsent(_ vault: Vault, _ problem: String?) throws {
        if let problem { throw Violation("the examination at first: \(problem)") }
        guard mayBeAbsent else { throw Violation("the vault is gone") }
        try said("making the vault", { try vault.add("afterwards", "written") })
        guard try Items.all(try place.another()) == ["afterwards": "written"] else {
            throw Violation("a vault that was made afterwards does not hold what was stored in it")
        }
        if let backup = allowed.first?.backup { try restore(backup, nil) }
    }

    /// A vault that is not as it was left refuses changes until the remedy was used that it names.
    private func bringInOrder(_ vault: Vault, _ found: Look.Found, _ state: VaultState) throws {
        guard !found.isAsLeft else { return }
        do {
            try vault.add("refused", "written")
            throw Violation("a vault that is not as it was left took a change")
        } catch let error as KeychainError {
            guard error.reason == .rolledBack else { throw Violation("\(error.reason.rawValue): \(error.message)") }
        }
        try said("bringing it in order") {
            if state.head == .needsRepair { _ = try vault.repairIndex() } else { _ = try vault.accept() }
        }
        let findings = try said("its head") { try vault.headFindings(wholeVault: true) }
        guard findings.isEmpty else { throw Violation("still not as it was left: \(findings.sentence)") }
    }

    /// What a backup is there for.
    private func restore(_ backup: [String: String], _ state: VaultState?) throws {
        let vault = try place.another()
        if let state { try unlock(vault, state) }
        let done = try said("restoring") { try vault.restore(from: place.backupFile) }
        guard done.isAccepted else { throw Violation("the restored vault was not accepted") }
        guard try Items.all(vault) == backup else { throw Violation("the restored vault is not the backup") }
        if let problem = try problem() { throw Violation("the examination after restoring: \(problem)") }
        if state?.outbox != nil { try Ring(place: place).check(nil, unlocking: state?.person) }
    }

    private func checkCounts(_ vault: Vault) throws {
        let status = try said("its status", { try vault.status() })
        let counts = [
            ("damaged", status.damagedCount), ("closed", status.lockedCount),
            ("of another device", status.ofAnotherDeviceCount),
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

    /// The first problem that the examination finds.
    private func problem() throws -> String? {
        Vault.examine(try place.location(), Place.settings()).first { $0.severity == .problem }
            .map { "\($0.check): \($0.message)" }
    }

    // MARK: - Words

    private func differing(_ found: Look.Found) -> String {
        allowed.map { state in
            state.items == found.items ? found.description : Self.difference(state.items, found.items)
        }.joined(separator: "; or: ")
    }

    private static func difference(_ expected: [String: String], _ found: [String: String]) -> String {
        let lost = expected.keys.filter { found[$0] == nil }.sorted()
        let added = found.keys.filter { expected[$0] == nil }.sorted()
        let changed = expected.keys.filter { found[$0] != nil && found[$0] != expected[$0] }.sorted()
        return "missing \(lost), unexpected \(added), with another value \(changed)"
    }
}

/// Something that has to hold and does not.
struct Violation: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
