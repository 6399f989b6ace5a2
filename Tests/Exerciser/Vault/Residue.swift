// SPDX-License-Identifier: Apache-2.0
// Uses secrets, lets go of them, and waits to be searched for what is left of them.

import CTestShims
import Foundation
import KeychainCrypto
import SecretMemory

/// Secrets that the tests know too, made byte by byte so that nothing but this code's work puts them into memory.
enum Planted {
    static func byte(_ index: Int, _ seed: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: (index &* 73 &+ seed) ^ (index &* index &* 5))
    }

    static func key(_ seed: Int) -> SecretBytes {
        SecretBytes(count: 32) { for index in $0.indices { $0[index] = byte(index, seed) } }
    }

    /// As long as the code of an invitation.
    static func code(_ seed: Int) -> SecretBytes {
        SecretBytes(count: InvitationCode.byteCount) { for index in $0.indices { $0[index] = byte(index, seed) } }
    }

    /// 48 printable characters.
    static func passphrase(_ seed: Int) -> SecretBytes {
        SecretBytes(count: 48) { for index in $0.indices { $0[index] = 0x21 + byte(index, seed) % 90 } }
    }

    /// 340 capital letters, each with an accent of its own behind it: a string of more than a kibibyte.
    static func accentedPassphrase(_ seed: Int) -> SecretBytes {
        SecretBytes(count: 340 * 3) { bytes in
            for index in 0..<340 {
                bytes[3 * index] = 0x41 + byte(index, seed) % 26
                bytes[3 * index + 1] = 0xCC
                bytes[3 * index + 2] = 0x80 + byte(index, seed) / 26 % 5
            }
        }
    }

    static let salt = Data(0..<32)
    static let cost = ScryptParameters(rounds: 1 << 15, blockSize: 8, parallelism: 1)
}

enum Residue {
    /// Runs `command`, says "ready" and waits until its input ends.
    ///
    /// The work has a thread of its own, which does nothing afterwards that could overwrite what is left there.
    static func wait(after command: String) {
        let (done, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        Thread.detachNewThread {
            let kept = use(command)
            done.signal()
            end.wait()
            withExtendedLifetime(kept) {}
        }
        done.wait()
        print("ready")
        fflush(nil)
        while readLine() != nil {}
    }

    /// Derives at a cost that this process may not have the memory for.
    static func report(rounds: UInt64) {
        do {
            let cost = ScryptParameters(rounds: rounds, blockSize: 8, parallelism: 1)
            _ = try PassphraseDerivation.keys(from: Planted.passphrase(1), salt: Planted.salt, cost)
            print("done")
        } catch {
            print("failed", error)
        }
    }

    @inline(never)
    private static func use(_ command: String) -> [[UInt8]] {
        do {
            return try steps(command)
        } catch {
            exit(1)
        }
    }

    private static func steps(_ command: String) throws -> [[UInt8]] {
        switch command {
        // In ordinary memory: what the search has to be able to find.
        case "kept": return try derive(Planted.passphrase(1)).map { $0.withUnsafeBytes { Array($0) } }
        case "passphrase": _ = try derive(Planted.passphrase(1))
        case "passphrase-among-freed-blocks":
            leaveFreedBlocks()
            _ = try derive(Planted.passphrase(1))
        case "accents": _ = try derive(Planted.accentedPassphrase(2))
        case "user-key": try sealAndOpen()
        case "opened":
            try open(Planted.accentedPassphrase(2))
            // There the cipher leaves what it had at hand, until the thread uses it again.
            test_overwrite_stack()
        case "recovery-key": _ = RecoveryKey.read(RecoveryKey.text(Planted.key(5)))
        case "digests-among-freed-blocks":
            leaveFreedBlocks()
            _ = RecoveryKey.read(RecoveryKey.text(Planted.key(5)))
            _ = InvitationCode.read(InvitationCode.text(Planted.code(6)))
            _ = Derivation.key(from: Planted.key(7), salt: Planted.salt, .value)
            checkSum()
        default: exit(64)
        }
        return []
    }

    private static func derive(_ passphrase: SecretBytes) throws -> [SecretBytes] {
        let keys = try PassphraseDerivation.keys(from: passphrase, salt: Planted.salt, Planted.cost)
        return [keys.wrapping, keys.commitment]
    }

    private static func sealAndOpen() throws {
        let key = Planted.key(3)
        let sealed = try UserKey.seal(Planted.key(4), to: UserKey.publicKey(of: key), context: [1])
        _ = try UserKey.open(sealed, with: key, context: [1])
    }

    /// A digest of bytes that the caller overwrites.
    private static func checkSum() {
        var bytes = Planted.key(8).withUnsafeBytes { Data($0) }
        _ = Checksum.sha256(secret: bytes)
        bytes.withUnsafeMutableBytes { wipeMemory($0) }
    }

    private static func open(_ secret: SecretBytes) throws {
        let sealed = try Sealing.seal(secret, under: Planted.key(3), context: [1])
        _ = try Sealing.open(sealed, with: Planted.key(3), context: [1])
    }

    /// Fills the allocator's lists, so that the library's blocks do not go to the front of a short one.
    private static func leaveFreedBlocks() {
        for size in stride(from: 16, through: 256, by: 16) {
            let blocks = (0..<32).map { _ in UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16) }
            for block in blocks { block.deallocate() }
        }
    }
}
