// SPDX-License-Identifier: Apache-2.0
// Calls on the kernel keyring that the system refuses.

import CTestShims
import Foundation
import KeychainTestSupport
import SecretMemory
import Testing

@Suite(.enabled(if: Programs.strace != nil, "strace cannot trace here"))
struct RefusedKeyringTests {
    private static func strace(_ injections: String...) throws -> [String] {
        let program = try #require(Programs.strace)
        return [program, "-f", "-qq", "-o", "/dev/null"] + injections.flatMap { ["-e", "inject=" + $0] }
    }

    @Test(arguments: [("EPERM", EPERM), ("ENOSYS", ENOSYS), ("EACCES", EACCES)])
    func calls_refusedByTheSystem_sayWhy(_ name: String, _ code: Int32) throws {
        let wrapper = try Self.strace("keyctl:error=\(name)", "add_key:error=\(name)")
        let lines = try Exerciser.run("key-refused", TestKey().name, under: wrapper)
        // Refused access to one key says no more than that it is not ours.
        let read = code == EACCES ? "nil" : "failure \(code)"
        let failure = "failure \(code)"
        #expect(lines == [failure, failure, read, failure, failure, "false"])
    }

    @Test(.enabled(if: TestKey.isSupported, "there is no kernel keyring here"))
    func quota_usedUp_isAFailureOfItsOwn() throws {
        let lines = try Exerciser.run("key-store", TestKey().name, "s", under: Self.strace("add_key:error=EDQUOT"))
        #expect(lines == ["failure \(EDQUOT)"])
    }

    @Test(.enabled(if: TestKey.isSupported, "there is no kernel keyring here"))
    func timeout_refused_leavesNoKeyBehind() throws {
        let key = TestKey()
        // The first keyctl gave the exerciser its session; the second sets the time.
        let lines = try Exerciser.run("key-store", key.name, "s", under: Self.strace("keyctl:error=EPERM:when=2"))
        #expect(lines == ["failure \(EPERM)"])
        #expect(try key.find() == nil)
    }

    // As if another process removed the key between storing it and setting its time.

    @Test(.enabled(if: TestKey.isSupported, "there is no kernel keyring here"))
    func key_removedByAnotherProcessWhileStored_isStoredAgain() throws {
        let key = TestKey()
        let wrapper = try Self.strace("keyctl:error=EKEYREVOKED:when=2")
        let lines = try Exerciser.run("key-store", key.name, "secret", under: wrapper)
        #expect(try key.find().map { [$0.serial.description] } == lines)
        #expect(try key.read() == "secret")
    }

    @Test(.enabled(if: TestKey.isSupported, "there is no kernel keyring here"))
    func key_removedEachTimeItIsStored_isAFailureInTheEnd() throws {
        let key = TestKey()
        // Number 128; not every system has a name for it.
        let wrapper = try Self.strace("keyctl:error=EKEYREVOKED:when=2+")
        #expect(try Exerciser.run("key-store", key.name, "secret", under: wrapper) == ["failure 128"])
    }
}
