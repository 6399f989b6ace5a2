// SPDX-License-Identifier: Apache-2.0
// What machines are prepared with, and what lies in their shared folder.

import Foundation
import KeychainCrypto
import KeychainEngine
import KeychainSyncCore
import KeychainVault
import SecretMemory

@testable import KeychainSync

extension Exchanging {
    var place: CarrierPlace { .folder(root + "/shared") }

    func member(_ name: String) throws -> RingMember { RingMember(try vault(name)) }

    // MARK: - What is kept beside the machines

    func keep(_ text: String, as name: String) throws {
        try FileManager.default.createDirectory(atPath: root + "/kept", withIntermediateDirectories: true)
        try text.write(toFile: "\(root)/kept/\(name)", atomically: true, encoding: .utf8)
    }

    func kept(_ name: String) throws -> String { try String(contentsOfFile: "\(root)/kept/\(name)", encoding: .utf8) }

    func code(_ text: String?) throws -> SecretBytes {
        guard let text, let code = RingMember.code(from: SecretBytes(plainText: text)) else {
            throw HarnessError("the code of the invitation is none")
        }
        return code
    }

    func recoveryKey(_ text: String) throws -> SecretBytes {
        guard case .key(let key) = RecoveryKey.read(SecretBytes(plainText: text)) else {
            throw HarnessError("the recovery key is none")
        }
        return key
    }

    /// What a person does with a recovery key that is shown.
    @Sendable func show(_ key: SecretBytes) throws(KeychainError) {
        do {
            try keep(key.plainText, as: "shown \(UUID().uuidString)")
        } catch {
            throw KeychainError(.inputOutput, "The key cannot be shown: \(error)")
        }
    }

    /// A recovery key in the ring that nobody has seen would be counted, and could not be used.
    func unshownKeyProblem() throws -> String? {
        let names = try FileManager.default.contentsOfDirectory(atPath: root + "/kept")
        let shown = try names.filter { $0.hasPrefix("shown ") }.map {
            try DeviceKeys(recoveryKey: recoveryKey(kept($0))).publicKeys().member
        }
        let unseen = try replica("laptop").ring.active.filter { $0.role == .recovery && !shown.contains($0.id) }
        return unseen.isEmpty ? nil : "nobody has seen the key of \(unseen.count) recovery members"
    }

    /// One machine has founded a ring and invites another one.
    func prepareInvitation(from host: String, to guest: String, needsApproval: Bool = false) throws {
        let member = try member(host)
        try waiting { _ = try await member.found(name: host, at: place) }
        for (account, value) in [("a", "1"), ("b", "2")] { try add(account, value, vault(host)) }
        try waiting {
            _ = try await member.exchange()
            let code = try await member.invite(name: guest, for: .seconds(3600), needsApproval: needsApproval)
            try keep(RingMember.text(of: code).plainText, as: "code")
        }
    }

    // MARK: - The shared folder

    private var files: Set<String> {
        Set(FileManager.default.enumerator(atPath: root + "/shared")?.compactMap { $0 as? String } ?? [])
    }

    var ringCount: Int {
        get throws { try FileManager.default.contentsOfDirectory(atPath: root + "/shared/skc1").count }
    }

    var hasSnapshot: Bool { files.contains { $0.split(separator: "/").dropFirst(2).first == "s" } }

    /// All machines have read them.
    func loseSegments() throws {
        for file in files where file.hasSuffix(".skc") && file.split(separator: "/").dropFirst(2).first == "l" {
            try FileManager.default.removeItem(atPath: root + "/shared/" + file)
        }
    }

    /// - Returns: A problem unless a machine sees the ring as expected, after an exchange of its own.
    func problemUnless(_ name: String, sees isRight: @escaping @Sendable (RingStatus) -> Bool) throws -> String? {
        let (member, status) = (try member(name), Guarded<RingStatus?>(nil))
        try waiting {
            _ = try await member.exchange()
            let now = try await member.status()
            status.withLock { $0 = now }
        }
        guard let status = status.withLock({ $0 }), !isRight(status) else { return nil }
        return "the \(name) sees \(status.members.map(\.name))"
    }

    // MARK: - Secrecy

    /// What is added after keys were replaced.
    static let secrets = ["y": "8", "z": "9"]

    /// Keeps what a machine can open now, and what lies in the folder.
    func keepKeys(of name: String) throws {
        let replica = try replica(name)
        try keep(replica.member.hex, as: "member")
        try keep(epochs(replica).sorted().joined(separator: "\n"), as: "epochs")
        try keep(files.sorted().joined(separator: "\n"), as: "files")
    }

    private func replica(_ name: String) throws -> Replica { try member(name).step { _, _ in [] }.state.replica }

    private func epochs(_ replica: Replica) -> Set<String> {
        Set(
            replica.keyring.epochs.keys.map { epoch in
                var writer = ByteWriter(capacity: EpochID.length)
                epoch.write(to: &writer)
                return writer.bytes.hex
            })
    }

    /// Both machines write something. The keys that were kept must open nothing that has come since.
    ///
    /// - Parameter other: A machine that was removed, and tries to get newer keys; `nil`: there is none.
    func secrecyProblem(asking other: String?) throws -> String? {
        let (laptop, desktop) = (try vault("laptop"), try vault("desktop"))
        let (first, second) = (RingMember(laptop), RingMember(desktop))
        try waiting { for member in [first, second] { _ = try await member.exchange() } }
        try add("z", "9", laptop)
        try add("y", "8", desktop)
        try waiting { for member in [first, second] { _ = try await member.exchange() } }
        var known = Set(try kept("epochs").split(separator: "\n").map(String.init))
        if let other {
            let member = try member(other)
            do { try waiting { _ = try await member.exchange() } } catch is KeychainError {}
            known.formUnion(epochs(try replica(other)))
        }
        return try leaks(to: known)
    }

    private func leaks(to known: Set<String>) throws -> String? {
        let (former, member) = (Set(try kept("files").split(separator: "\n").map(String.init)), try kept("member"))
        let new = files.subtracting(former).filter { $0.hasSuffix(".skc") }
        if let wrap = new.first(where: { $0.contains("/k/") && $0.contains(member) }) { return "a new wrap: \(wrap)" }
        var sealed = 0
        for file in new {
            let bytes = try [UInt8](Data(contentsOf: URL(filePath: root + "/shared/" + file)))
            guard bytes.count > 58, Self.kinds.contains(String(decoding: bytes[..<4], as: UTF8.self)) else { continue }
            sealed += 1
            // Kind, format, suite and ring come before.
            if known.contains(Array(bytes[38..<58]).hex) { return "\(file) is sealed with keys of the past" }
        }
        return sealed > 0 ? nil : "nothing new is in the folder"
    }

    /// The kinds of objects that are sealed with the keys of an epoch.
    private static let kinds: Set = ["KSEG", "KSNM", "KSNP", "KHED"]
}
