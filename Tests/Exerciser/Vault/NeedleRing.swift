// SPDX-License-Identifier: Apache-2.0
// A ring that the tests prepare for one operation, and the files by which its codes and keys pass from one process to another.

import Foundation
import KeychainCrypto
import KeychainEngine
import KeychainSync
import KeychainVault
import SecretMemory

/// The folder of a ring, and its other machine, beside the vault of a test.
struct NeedleRing {
    let vault: Vault
    private let folder = NSTemporaryDirectory()

    var place: CarrierPlace { .folder(folder + "/shared") }
    private var codeFile: String { folder + "/code" }
    /// For the tests, which look for it in the memory of the process that made it.
    private var madeFile: String { folder + "/made" }

    /// Opens with its device key.
    private func other() throws -> Vault {
        try Vault(VaultLocation(folder: folder + "/other/vault", deviceKeyFile: folder + "/other/config/device.key"))
    }

    /// `ring STEP …`: says "done" after the last one.
    func run(_ steps: [String]) async throws {
        let members = (own: RingMember(vault), other: RingMember(try other()))
        for step in steps { try await perform(step, members.own, members.other) }
        try Vault.closeAll()
        print("done")
    }

    private func perform(_ step: String, _ own: RingMember, _ other: RingMember) async throws {
        switch step {
        case "unlock": try vault.unlock(Planted.secret("passphrase"))
        case "found":
            try await found(own, joinedBy: other)
            try add("shared", 14, vault)
            for member in [own, other, own] { _ = try await member.exchange() }
        case "send":
            try add("arriving", 15, try self.other())
            _ = try await other.exchange()
            try update("shared", 16, vault)
        case "conflict":
            try update("shared", 16, vault)
            try update("shared", 17, try self.other())
            for member in [other, own] { _ = try await member.exchange() }
        case "found-elsewhere":
            _ = try await other.found(name: "other", at: place)
            try add("arriving", 15, try self.other())
            _ = try await other.exchange()
        case "invite": try keep(await other.invite(name: "own", for: .seconds(3600)), codeFile)
        case "admit": try await admit(other)
        case "recovery-key":
            try keep(await other.addRecoveryKey(), codeFile)
            _ = try await other.exchange()
        default: exit(64)
        }
    }

    private func found(_ own: RingMember, joinedBy other: RingMember) async throws {
        _ = try await own.found(name: "own", at: place)
        let code = try await own.invite(name: "other", for: .seconds(3600))
        async let joined = other.join(code, at: place, interval: .milliseconds(5))
        try await admit(own)
        _ = try await joined
    }

    private func admit(_ member: RingMember) async throws {
        let end = ContinuousClock.now + .seconds(900)
        while ContinuousClock.now < end {
            guard try await member.exchange().admitted.isEmpty else { return }
            try await Task.sleep(for: .milliseconds(5))
        }
        exit(75)
    }

    // MARK: - Items

    private func query(_ account: String) -> Query {
        Query(
            .genericPassword,
            [.service: .string("exerciser"), .account: .string(account), .synchronizable: .bool(true)])
    }

    private func value(_ seed: Int) -> Data { Planted.passphrase(seed).withUnsafeBytes { Data($0) } }

    private func add(_ account: String, _ seed: Int, _ vault: Vault) throws {
        var query = query(account)
        query.value = value(seed)
        _ = try Engine(store: vault).add(query, accessGroups: .unrestricted)
    }

    private func update(_ account: String, _ seed: Int, _ vault: Vault) throws {
        try Engine(store: vault).update(
            query(account), with: Changes(value: value(seed)), accessGroups: .unrestricted)
    }

    /// Whether the vault has an item with this value, which is not read.
    func has(_ account: String) throws -> Bool {
        var query = query(account)
        query.returns = .attributes
        return try Engine(store: vault).requests.find(query, accessGroups: .unrestricted).count == 1
    }

    // MARK: - Codes and keys

    /// Tells the tests of a secret that this process has made. It goes straight from its memory to the file.
    func tell(_ secret: SecretBytes) throws { try keep(secret, madeFile) }

    private func keep(_ secret: SecretBytes, _ path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        let written = secret.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        guard written == secret.count, close(descriptor) == 0 else { exit(74) }
    }

    /// The secret that the other machine has made. The file is removed, as if the code had been typed.
    func takeCode(_ length: Int) -> SecretBytes {
        let descriptor = open(codeFile, O_RDONLY)
        let code = SecretBytes(count: length) { bytes in
            guard read(descriptor, bytes.baseAddress, length) == length else { exit(66) }
        }
        close(descriptor)
        unlink(codeFile)
        return code
    }
}
