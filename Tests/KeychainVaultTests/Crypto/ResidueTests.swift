// SPDX-License-Identifier: Apache-2.0
// What of a secret is still in memory after its use.

import Foundation
import KeychainCrypto
import KeychainTestSupport
import SecretMemory
import Testing

@Suite(.enabled(if: ProcessMemory.isAvailable, "\(ProcessMemory.requirement)"), .serialized)
struct ResidueTests {
    /// The rule of `Planted` in the exerciser.
    private static func byte(_ index: Int, _ seed: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: (index &* 73 &+ seed) ^ (index &* index &* 5))
    }

    private static func key(_ seed: Int) -> [UInt8] { (0..<32).map { byte($0, seed) } }
    private static let passphrase = (0..<48).map { 0x21 + byte($0, 1) % 90 }
    private static let accented: [UInt8] = (0..<340).flatMap {
        [UInt8](arrayLiteral: 0x41 + byte($0, 2) % 26, 0xCC, 0x80 + byte($0, 2) / 26 % 5)
    }

    private static func derived(from passphrase: [UInt8]) throws -> [UInt8] {
        let keys = try PassphraseDerivation.keys(
            from: SecretBytes(bytes: passphrase), salt: Data(0..<32),
            ScryptParameters(rounds: 1 << 15, blockSize: 8, parallelism: 1))
        return keys.wrapping.bytes + keys.commitment.bytes
    }

    /// The memory of a process that has done `work` and released everything it used.
    private static func memory(after work: String, environment: [String: String] = [:]) throws -> ProcessMemory {
        let process = Process()
        let (input, output) = (Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: Exerciser.path)
        process.arguments = ["residue", work]
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run(limitedTo: .testLimit)
        defer {
            input.fileHandleForWriting.closeFile()
            process.waitUntilExit()
        }
        let ready = try output.fileHandleForReading.readSome()
        try #require(ready == Data("ready\n".utf8))
        return try ProcessMemory(of: process.processIdentifier)
    }

    @Test func keptKeys_areFound() throws {
        let memory = try Self.memory(after: "kept")
        #expect(memory.findings(of: try Self.derived(from: Self.passphrase)).count >= 12)
    }

    @Test(arguments: ["passphrase", "passphrase-among-freed-blocks"])
    func passphraseAndItsKeys_afterUse_areGone(_ work: String) throws {
        let memory = try Self.memory(after: work)
        #expect(memory.findings(of: try Self.derived(from: Self.passphrase)) == [])
        #expect(memory.findings(of: Self.passphrase) == [])
    }

    @Test func accentedPassphrase_afterUse_isGone() throws {
        let memory = try Self.memory(after: "accents")
        let composed = try PassphraseDerivation.normalised(SecretBytes(bytes: Self.accented))
        #expect(memory.findings(of: Self.accented) == [])
        #expect(memory.findings(of: composed.bytes) == [])
        for text in [SecretBytes(bytes: Self.accented).text, composed.text] {
            let wide: [UInt8] = text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
            #expect(memory.findings(of: wide) == [])
        }
        #expect(memory.findings(of: try Self.derived(from: Self.accented)) == [])
    }

    @Test func userKeyAndWhatItSealed_afterUse_areGone() throws {
        let memory = try Self.memory(after: "user-key")
        #expect(memory.findings(of: Self.key(3)) == [])
        #expect(memory.findings(of: Self.key(4)) == [])
    }

    /// A long one: the allocator writes over the first bytes of what it takes back. Symbols are resolved at the start: else the
    /// dynamic linker puts on the stack what is left in vector registers.
    @Test func secret_openedAndLetGo_isGone() throws {
        let memory = try Self.memory(after: "opened", environment: ["LD_BIND_NOW": "1"])
        #expect(memory.findings(of: Self.accented) == [])
        #expect(memory.findings(of: Self.key(3)) == [])
    }

    @Test func recoveryKeyAndItsText_afterUse_areGone() throws {
        let memory = try Self.memory(after: "recovery-key")
        #expect(memory.findings(of: Self.key(5)) == [])
        #expect(memory.findings(of: RecoveryKey.text(SecretBytes(bytes: Self.key(5))).bytes) == [])
    }

    @Test func digestedSecrets_amongFreedBlocks_areGone() throws {
        let memory = try Self.memory(after: "digests-among-freed-blocks")
        for secret in [Self.key(5), Array(Self.key(6).prefix(13)), Self.key(7), Self.key(8)] {
            #expect(memory.findings(of: secret) == [])
        }
        let derived = Derivation.key(from: SecretBytes(bytes: Self.key(7)), salt: Data(0..<32), .value)
        #expect(memory.findings(of: derived.bytes) == [])
    }
}
