// SPDX-License-Identifier: Apache-2.0
// Secrets are separate from each other, and are never printed.

import CKeychainShims
import Foundation
import KeychainTestSupport
import Testing

@testable import SecretMemory

struct SecretBytesTests {
    @Test(arguments: [1, 31, 32, 33, 64, 4095, 4096, 4097, 65536, 200_000])
    func secret_ofAnySize_keepsItsBytes(_ size: Int) {
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ size) }
        let secret = bytes.withUnsafeBytes { SecretBytes(copying: $0) }
        #expect(secret.count == size)
        #expect(secret.withUnsafeBytes { $0.elementsEqual(bytes) })
    }

    @Test func secrets_moreThanTheArenaHolds_keepTheirBytes() {
        let secrets = (0..<3000).map { number in
            SecretBytes(count: 32) { $0.storeBytes(of: number, as: Int.self) }
        }
        for (number, secret) in secrets.enumerated() {
            #expect(secret.withUnsafeBytes { $0.load(as: Int.self) } == number)
        }
    }

    @Test func secrets_madeAndReleasedByManyThreads_neverShareMemory() async {
        await withTaskGroup(of: Bool.self) { group in
            for worker in 1...8 {
                group.addTask {
                    (0..<2000).allSatisfy { round in
                        let mark = UInt8(worker * 16 + round % 16)
                        var isZero = false
                        let secret = SecretBytes(count: 1 + round % 100) { bytes in
                            isZero = bytes.allSatisfy { $0 == 0 }
                            for index in bytes.indices { bytes[index] = mark }
                        }
                        return isZero && secret.withUnsafeBytes { $0.allSatisfy { $0 == mark } }
                    }
                }
            }
            for await isGood in group { #expect(isGood) }
        }
    }

    @Test func description_ofASecret_showsOnlyItsLength() {
        let secret = SecretBytes("needle")
        var dumped = ""
        dump(secret, to: &dumped)
        #expect("\(secret)" == "SecretBytes(6 bytes)")
        #expect(!(dumped + String(reflecting: secret)).contains("needle"))
    }

    @Test func block_returned_isWipedAndGivenOutAgain() throws {
        let arena = SecretArena()
        let block = SecretBlock(count: 48, from: arena)
        block.bytes.copyBytes(from: [UInt8](repeating: 0x41, count: 48))
        block.release()
        #expect(block.bytes.count == 64)
        #expect(block.bytes.allSatisfy { $0 == 0 })
        #expect(SecretBlock(count: 33, from: arena).bytes.baseAddress == block.bytes.baseAddress)
    }

    @Test(arguments: [(1, 32), (32, 32), (33, 64), (4096, 4096), (4097, nil)])
    func blockSize_ofACount_isThePowerOfTwoThatHoldsIt(_ count: Int, _ size: Int?) {
        #expect(SecretArena.blockSize(count) == size)
    }
}

struct SecretMemoryProcessTests {
    static let hasSecretMemory: Bool = {
        let descriptor = Int32(keychain_secret_memory())
        return descriptor >= 0 && close(descriptor) == 0
    }()
    static let strace = Programs.strace

    /// What to take from the process, and how its memory is protected then.
    static let refusals: [([String], String)] = [
        (["memfd_secret:error=ENOSYS"], "locked"),
        (["memfd_secret:error=EPERM", "mlock:error=ENOMEM"], "swappable"),
        (["ftruncate:error=ENOSPC"], "locked"),
    ]

    private static func tracing(_ injections: [String]) throws -> [String] {
        [try #require(strace), "-f", "-qq", "-o", "/dev/null"] + injections.flatMap { ["-e", "inject=" + $0] }
    }

    @Test(.enabled(if: hasSecretMemory, "this kernel has no secret memory"))
    func secretMemory_throughTheFileOfTheProcess_isNotReadable() throws {
        let file = open("/proc/self/mem", O_RDONLY)
        try #require(file >= 0)
        defer { close(file) }
        func read(_ bytes: UnsafeRawBufferPointer) -> Int {
            var copy = [UInt8](repeating: 0, count: bytes.count)
            return pread(file, &copy, copy.count, off_t(Int(bitPattern: bytes.baseAddress)))
        }
        // Ordinary memory is, or the test would prove nothing.
        #expect([UInt8](repeating: 1, count: 64).withUnsafeBytes(read) == 64)
        #expect(SecretBytes.random(count: 64).withUnsafeBytes(read) == -1)
        #expect(SecretBytes.random(count: 64_000).withUnsafeBytes(read) == -1)
    }

    @Test(.enabled(if: hasSecretMemory, "this kernel has no secret memory"))
    func protection_whereTheKernelHasSecretMemory_isSecretMemory() throws {
        #expect(try Exerciser.run("memory-protection") == ["secretMemory", "true true", "true true"])
    }

    @Test(.enabled(if: strace != nil, "strace cannot trace here"), arguments: refusals)
    func protection_whenRefused_isTheNextBestAndSecretsWork(_ injections: [String], _ protection: String) throws {
        let isLocked = protection == "locked"
        let lines = try Exerciser.run("memory-protection", under: Self.tracing(injections))
        #expect(lines == [protection, "true \(isLocked)", "true \(isLocked)"])
    }

    @Test(arguments: [32, 100, 4096])
    func secret_released_isWipedAndItsMemoryUsedAgain(_ size: Int) throws {
        #expect(try Exerciser.run("memory-release", "\(size)") == ["before true", "after true", "again true"])
    }

    private static func check(_ lines: [String], protection: String) {
        let zeros = [String](repeating: "parent gets zeros true", count: 10)
        #expect(
            lines == [
                "child reads true true", "child makes true \(protection)", "child ended 0", "parent keeps true true",
            ]
                + zeros + ["parent makes 10 true"])
    }

    // 100,000 bytes have pages of their own.
    @Test(arguments: [32, 4096, 100_000])
    func secrets_inAForkedChild_areReadAndReleasedWithoutHarmToTheParent(_ size: Int) throws {
        Self.check(try Exerciser.run("memory-fork", "\(size)"), protection: "\(SecretBytes.protection)")
    }

    @Test(.enabled(if: strace != nil, "strace cannot trace here"), arguments: [32, 100_000])
    func secrets_inAForkedChildWithoutSecretMemory_areReadAndReleasedWithoutHarmToTheParent(_ size: Int) throws {
        let wrapper = try Self.tracing(["memfd_secret:error=ENOSYS"])
        Self.check(try Exerciser.run("memory-fork", "\(size)", under: wrapper), protection: "locked")
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/mem"), "there is no Linux here"))
    func process_hardened_isNotDumpableAndLeavesNoCoreDump() throws {
        #expect(try Exerciser.run("harden") == ["1 true 0 0"])
    }
}
