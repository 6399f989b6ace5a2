// SPDX-License-Identifier: Apache-2.0
// Keys in the user's keyring: what one process sees, and what others see of it.

import CTestShims
import Foundation
import SecretMemory
import Testing

@Suite(.enabled(if: TestKey.isSupported, "there is no kernel keyring here"))
struct KernelKeyringTests {
    let key = TestKey()

    @Test func key_stored_isReadAgain() throws {
        let stored = try key.store("secret")
        #expect(try key.find() == stored)
        #expect(try KernelKeyring.read(stored)?.text == "secret")
        #expect(KernelKeyring.isAlive(stored))
    }

    @Test func key_neverStored_isNil() throws {
        #expect(try key.find() == nil)
    }

    /// Users but root have a quota of bytes, which all tests that run at once share.
    private static let sizes: [Int] = {
        let sizes = [1, 31, 32, 33, 4096, 32767]
        guard geteuid() != 0 else { return sizes }
        var quota = 0
        do {
            quota = Int(try String(contentsOfFile: "/proc/sys/kernel/keys/maxbytes", encoding: .utf8).dropLast()) ?? 0
        } catch {}
        let fitting = sizes.filter { $0 <= quota / 4 }
        print("left out of \(sizes): what does not fit the quota of \(quota) bytes of keys of this user")
        return fitting
    }()

    @Test(arguments: sizes)
    func secret_ofAnySizeUpToTheLimit_isReadAgain(_ size: Int) throws {
        let text = String(repeating: "s", count: size)
        #expect(try KernelKeyring.read(key.store(text))?.text == text)
    }

    @Test func secret_aboveTheLimit_isRefused() throws {
        #expect(throws: KernelKeyring.Failure(code: EINVAL)) { try key.store(String(repeating: "s", count: 32768)) }
        #expect(try key.find() == nil)
    }

    @Test(arguments: ["", "with\0nul", String(repeating: "d", count: 5000)])
    func description_unusable_isRefused(_ description: String) {
        let refusal = KernelKeyring.Failure(code: EINVAL)
        #expect(throws: refusal) { try KernelKeyring.store(SecretBytes("s"), as: description, timeout: .seconds(1)) }
        #expect(throws: refusal) { try KernelKeyring.find(description) }
    }

    @Test func key_storedAgain_isTheSameKeyWithTheNewSecret() throws {
        let first = try key.store("first")
        #expect(try key.store("second, and longer") == first)
        #expect(try KernelKeyring.read(first)?.text == "second, and longer")
    }

    @Test func key_removed_isGoneForAll() throws {
        let stored = try key.store("secret")
        try KernelKeyring.remove(stored)
        #expect(!KernelKeyring.isAlive(stored))
        #expect(try KernelKeyring.read(stored) == nil)
        #expect(try key.find() == nil)
    }

    @Test func key_removedTwice_isNoError() throws {
        let stored = try key.store("secret")
        try KernelKeyring.remove(stored)
        try KernelKeyring.remove(stored)
    }

    @Test func key_storedAfterARemoval_isAnother() throws {
        let first = try key.store("first")
        try KernelKeyring.remove(first)
        let second = try key.store("second")
        #expect(second != first)
        #expect(try key.read() == "second")
    }

    @Test func removal_ofAnEarlierKey_leavesItsSuccessor() throws {
        let first = try key.store("first")
        try KernelKeyring.remove(first)
        let second = try key.store("second")
        try KernelKeyring.remove(first)
        #expect(KernelKeyring.isAlive(second))
    }

    @Test func key_unlinkedByHand_isGone() throws {
        let stored = try key.store("secret")
        #expect(test_unlink_from_user_keyring(stored.serial) == 0)
        #expect(!KernelKeyring.isAlive(stored))
        #expect(try KernelKeyring.read(stored) == nil)
        try KernelKeyring.remove(stored)
    }

    @Test func timeout_ofAKeyThatIsGone_isAFailure() throws {
        let stored = try key.store("secret")
        try KernelKeyring.remove(stored)
        #expect(throws: KernelKeyring.Failure.self) { try KernelKeyring.setTimeout(.seconds(5), of: stored) }
    }

    // The kernel counts whole seconds of its own, so that these wait for what they say, and not for a fixed time.

    @Test(arguments: [Duration.milliseconds(1), .zero, .seconds(-5), .seconds(1)])
    func key_pastItsTime_isGone(_ timeout: Duration) throws {
        let stored = try key.store("secret", timeout: timeout)
        while KernelKeyring.isAlive(stored) { usleep(20_000) }
        #expect(try KernelKeyring.read(stored) == nil)
        #expect(try key.find() == nil)
        try KernelKeyring.remove(stored)
    }

    @Test func key_storedAfterTheOldOneExpired_isReadAgain() throws {
        let expired = try key.store("first", timeout: .seconds(1))
        while KernelKeyring.isAlive(expired) { usleep(20_000) }
        _ = try key.store("second")
        #expect(try key.read() == "second")
    }

    @Test func timeout_tillAnotherKeyExpired_countsAgainWhenStoredAgainAndCanBeLifted() throws {
        let (clock, renewed, lifted) = (TestKey(), TestKey(), TestKey())
        _ = try renewed.store("first", timeout: .seconds(1))
        _ = try renewed.store("second", timeout: .seconds(600))
        try KernelKeyring.setTimeout(nil, of: lifted.store("kept", timeout: .seconds(1)))
        let expiring = try clock.store("x", timeout: .seconds(1))
        while KernelKeyring.isAlive(expiring) { usleep(20_000) }
        #expect(try renewed.read() == "second")
        #expect(try lifted.read() == "kept")
    }
}

@Suite(.enabled(if: TestKey.isSupported, "there is no kernel keyring here"))
struct SharedKeyringTests {
    let key = TestKey()

    @Test func key_storedHere_isReadByAProcessInAnotherSession() throws {
        _ = try key.store("secret")
        #expect(try Exerciser.run("key-read", key.name) == ["secret"])
    }

    /// As most containers are made: all namespaces but that of users, and no capability. The kernel keeps one keyring for all.
    @Test(.enabled(if: Namespaces.ofTheSystem.work, "other namespaces cannot be made here"))
    func key_inOtherNamespacesOfTheSameUser_isFound() throws {
        _ = try key.store("secret")
        #expect(try Exerciser.run("key-read", key.name, under: Namespaces.ofTheSystem.words) == ["secret"])
    }

    @Test(.enabled(if: Namespaces.ofUsers.work, "a namespace of users cannot be made here"))
    func key_inAUserNamespaceOfItsOwn_isNotFound() throws {
        _ = try key.store("secret")
        #expect(try Exerciser.run("key-read", key.name, under: Namespaces.ofUsers.words) == ["none"])
    }

    @Test func key_storedByAProcessInAnotherSession_isReadHere() throws {
        #expect(try Exerciser.run("key-store", key.name, "secret").count == 1)
        #expect(try key.read() == "secret")
    }

    @Test func key_removedHere_isGoneAtOnceForWhoeverHoldsIt() throws {
        let stored = try key.store("secret")
        let holder = try Exerciser(["key-hold", key.name])
        #expect(holder.line() == "alive")
        try KernelKeyring.remove(stored)
        holder.send("again")
        #expect(holder.line() == "gone")
        #expect(try holder.finish() == ["none"])
    }

    @Test func key_inAForkedChild_isRead() throws {
        _ = try key.store("secret")
        let lines = try Exerciser.run("key-fork", key.name)
        #expect(lines.first == "secret")
        #expect(lines.dropFirst().sorted() == ["child true secret", "parent true secret"])
    }

    @Test func key_inAThreadOlderThanTheFirstRead_isRead() throws {
        _ = try key.store("secret")
        #expect(try Exerciser.run("key-thread", key.name) == ["secret", "secret"])
    }

    /// Another user than root has 200 keys, which count until the kernel has thrown them away: other tests need some.
    private static let rounds = geteuid() == 0 ? 500 : 25

    @Test func key_storedAndRemovedBySeveralProcessesAtOnce_isNeverTornNorAliveAfterRemoval() throws {
        let racers = try (0..<4).map { _ in try Exerciser(["key-race", key.name, "\(Self.rounds)"]) }
        for racer in racers { #expect(try racer.finish() == ["done"]) }
    }
}

/// Ways to run a program as containers do.
private struct Namespaces {
    let words: [String]

    static let ofTheSystem = Namespaces(words: [
        "/usr/bin/env", "unshare", "-pmniu", "--fork", "setpriv", "--bounding-set=-all", "--inh-caps=-all",
        "--no-new-privs",
    ])
    static let ofUsers = Namespaces(words: ["/usr/bin/env", "unshare", "-Ur"])

    var work: Bool {
        do {
            return try Exerciser.run("key-read", "nothing", under: words) == ["none"]
        } catch {
            return false
        }
    }
}

@Suite(.enabled(if: Exerciser.installed("strace") != nil, "strace is not installed"))
struct RefusedKeyringTests {
    private static func strace(_ injections: String...) throws -> [String] {
        let program = try #require(Exerciser.installed("strace"))
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
