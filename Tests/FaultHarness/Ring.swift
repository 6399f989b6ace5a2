// SPDX-License-Identifier: Apache-2.0
// A vault in a ring: what waits to be sent, and the ring's other machine.

import Foundation
import KeychainEngine
import KeychainSync
import KeychainVault
import SecretMemory

/// The ring of the vault of a place. The place also has the shared folder, and the vault of another machine.
struct Ring {
    let place: Place

    /// The ring stores the path of its folder, and each point has a copy of the template in a folder of its own. So the path names the
    /// current folder of the process.
    private static let folder = "/proc/self/cwd/shared"

    private var other: Place { Place(root: place.root + "/desktop") }
    /// The names in the ring of the template's items, by which the outbox names what was deleted.
    private var namesFile: String { place.root + "/names" }

    // MARK: - The template

    static let shared = ["shared-0", "shared-1", "shared-2", "shared-3", "shared-4"]
    /// A change of the other machine that this one has not fetched.
    static let arriving = ["shared-1": "of the other machine"]

    static var items: [String: String] {
        let sent = Dictionary(uniqueKeysWithValues: shared.map { ($0, "value") })
        return sent.merging(["shared-3": "unsent", "shared-5": "unsent"]) { $1 }.filter { $0.key != "shared-4" }
    }

    static let outbox: Set<String> = ["shared-3 unsent", "shared-5 unsent", "-shared-4"]

    /// Founds the ring, and has the other machine join. Some changes remain unsent, and one is not fetched.
    func make(_ vault: Vault) throws {
        guard mkdir(place.root + "/shared", 0o700) == 0, mkdir(other.root, 0o700) == 0 else {
            throw HarnessError("cannot make the folders of a ring")
        }
        try enter()
        let desktop = try other.another()
        let (first, second) = (RingMember(vault), RingMember(desktop))
        try desktop.add("own", "value")
        try waiting {
            _ = try await first.found(name: "laptop", at: .folder(Self.folder))
            try await first.admit(second, "desktop", at: .folder(Self.folder))
        }
        for account in Self.shared { try vault.addShared(account, "value") }
        let rows = try vault.inRing { (ring) throws(KeychainError) in try ring.outgoing().compactMap(\.row) }
        try waiting { for member in [first, second, first] { _ = try await member.exchange() } }
        try keepNames(of: rows, vault)
        for (account, value) in Self.arriving { try desktop.updateShared(account, value) }
        try waiting { _ = try await second.exchange() }
        try vault.updateShared("shared-3", "unsent")
        try vault.deleteShared("shared-4")
        try vault.addShared("shared-5", "unsent")
    }

    private func keepNames(of rows: [(Int64, String)], _ vault: Vault) throws {
        let names = try vault.inRing { (ring) throws(KeychainError) in
            var names: [String: String] = [:]
            for (row, account) in rows { names[try ring.name(ofRow: row)?.base64EncodedString() ?? ""] = account }
            return names
        }
        try Scratch.write(try JSONEncoder().encode(names), to: namesFile)
    }

    /// Has this process find the folder of the ring.
    func enter() throws {
        guard chdir(place.root) == 0 else { throw HarnessError("cannot enter '\(place.root)'") }
    }

    // MARK: - Looking

    /// What waits to be sent: each account with its value, or with a minus sign if it was deleted. `nil` if the vault is in no ring.
    func outbox(_ vault: Vault) throws -> Set<String>? {
        guard try vault.isInRing else { return nil }
        let names = try JSONDecoder().decode([String: String].self, from: Data(contentsOf: URL(filePath: namesFile)))
        let changes = try vault.inRing { (ring) throws(KeychainError) in try ring.outgoing() }
        let lines = changes.map { change in
            switch change.content {
            case .item(_, let item): "\(item.account) \(String(decoding: item.value ?? Data(), as: UTF8.self))"
            case .deletion(let name): "-\(names[name.base64EncodedString()] ?? "an unknown item")"
            }
        }
        guard Set(lines).count == lines.count else { throw Violation("the outbox has an item twice: \(lines)") }
        return Set(lines)
    }

    /// Exchanges items with the other machine, which has to have the same then.
    ///
    /// - Parameter expected: The shared items; `nil` if they may be older.
    func check(_ expected: [String: String]?, unlocking person: Opener?) throws {
        try enter()
        let (vault, desktop) = (try place.another(), try other.another())
        if let person { try vault.unlock(person.secret) }
        let states = Guarded<[RingStatus]>([])
        try said("exchanging") {
            try waiting {
                let members = [RingMember(vault), RingMember(desktop)]
                for member in members { _ = try await member.exchange() }
                for member in members {
                    let status = try await member.status()
                    states.withLock { $0.append(status) }
                }
            }
        }
        let codes = states.withLock { $0.map { "\($0.compareCode), \($0.pending) unsent" } }
        guard Set(codes).count == 1, codes[0].hasSuffix(", 0 unsent") else { throw Violation("states are \(codes)") }
        try checkItems(expected, vault, desktop)
    }

    private func checkItems(_ expected: [String: String]?, _ vault: Vault, _ desktop: Vault) throws {
        let (own, others) = (try Items.shared(vault), try Items.shared(desktop))
        guard own == others else { throw Violation("the other machine has \(others), this one \(own)") }
        if let expected, own != expected { throw Violation("after exchanging there are \(own)") }
        for (name, vault) in [("this", vault), ("the other", desktop)] {
            let findings = try said("the head", { try vault.headFindings(wholeVault: true) })
            guard findings.isEmpty else { throw Violation("the head of \(name) machine: \(findings.sentence)") }
        }
    }
}

extension OutgoingChange {
    /// The row and the account of a written item.
    fileprivate var row: (Int64, String)? {
        guard case .item(let row, let item) = content else { return nil }
        return (row, item.account)
    }
}

extension Item {
    fileprivate var account: String {
        guard case .string(let account) = attributes[.account] else { return "?" }
        return account
    }
}
