// SPDX-License-Identifier: Apache-2.0
// A vault full of secrets in a ring, or about to join one.

import Foundation
import KeychainCrypto
import KeychainEngine
import KeychainSyncCore
import KeychainTestSupport
import SecretMemory

@testable import KeychainSync
@testable import KeychainVault

extension NeedleVault {
    private var sharedFolder: String { test.root + "/shared" }

    mutating func prepareRing(_ preparation: NeedleCase.Preparation) throws {
        switch preparation {
        case .ring: try makeRing(["unlock", "found", "send"])
        case .conflict: try makeRing(["unlock", "found", "conflict"])
        case .invitation: try makeRing(["found-elsewhere", "invite"])
        case .admission:
            try makeRing(["found-elsewhere", "invite"])
            sponsor = try startRing(["admit"])
        case .recoveryRing: try makeRing(["found-elsewhere", "recovery-key"])
        case .sharedFolder: try makeRing([])
        case .ringWithoutFolder:
            try makeRing(["unlock", "found", "send"])
            try FileManager.default.removeItem(atPath: sharedFolder)
        default: break
        }
    }

    private func makeRing(_ steps: [String]) throws {
        try FileManager.default.createDirectory(atPath: sharedFolder, withIntermediateDirectories: false)
        let result = try startRing(steps).finish()
        guard result.lines == ["done"] else { throw NeedleChildFailure(messages: Data(result.errors.utf8)) }
    }

    /// In another process, which needs no thread of the tests while this machine joins.
    private func startRing(_ steps: [String]) throws -> ChildProcess {
        try ChildProcess(
            Exerciser.path, test.exerciserArguments(["ring"] + steps),
            environment: ["KEYCHAIN_UNLOCK_CACHE": "process", "TMPDIR": test.root]
        ).start()
    }

    // MARK: - Needles

    /// The keys of this machine in its ring, and those of the ring.
    func ringKeys() throws -> [Needle] {
        let keys = try unlocked { vault in
            try vault.inRing { (ring) throws(KeychainError) in try RingKeyItem.read(ring) }
        }
        return [
            Needle(name: "signing seed", bytes: keys.device.signing.bytes),
            Needle(name: "wrapping seed", bytes: keys.device.wrapping.bytes),
            Needle(name: "ring key", bytes: keys.keyring.ring.secret.bytes),
        ] + keys.keyring.roots.values.map { Needle(name: "root key of an epoch", bytes: $0.bytes) }
    }

    /// What the exerciser has made and told in a file, which is removed.
    func takeMade() throws -> [Needle] {
        let path = test.root + "/made"
        let needles = try Needle.code(in: path)
        if !needles.isEmpty { try FileManager.default.removeItem(atPath: path) }
        return needles
    }
}

extension Needle {
    /// The code of an invitation, or the text of a recovery key, each as it is and as text; nothing if there is no such file.
    static func code(in path: String) throws -> [Needle] {
        guard let bytes = FileManager.default.contents(atPath: path).map({ [UInt8]($0) }) else { return [] }
        let secret = SecretBytes(bytes: bytes)
        if bytes.count == InvitationCode.byteCount {
            let text = InvitationCode.text(secret).bytes
            return [Needle(name: "invitation code", bytes: bytes), Needle(name: "invitation code", bytes: text)]
        }
        guard case .key(let key) = RecoveryKey.read(secret) else { throw CocoaError(.fileReadCorruptFile) }
        return [
            Needle(name: "ring's recovery key", bytes: key.bytes), Needle(name: "ring's recovery key", bytes: bytes),
        ]
    }
}
