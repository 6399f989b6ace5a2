// SPDX-License-Identifier: Apache-2.0
// Keys in the user's keyring: what one process sees, and what others see of it.

import CTestShims
import Foundation
import KeychainTestSupport
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

    @Test func key_storedAgain_isAnotherInPlaceOfTheFirst() throws {
        let first = try key.store("first")
        let second = try key.store("second, and longer")
        #expect(try key.find() == second)
        #expect(try key.read() == "second, and longer")
        #expect(!KernelKeyring.isAlive(first))
        #expect(try KernelKeyring.read(first) == nil)
        #expect(!update(first, "third"))
    }

    @Test func removal_ofAKeyThatWasReplaced_leavesItsSuccessor() throws {
        let first = try key.store("first")
        let second = try key.store("second")
        try KernelKeyring.remove(first)
        #expect(KernelKeyring.isAlive(second))
    }

    private func update(_ stored: KernelKeyring.Key, _ text: String) -> Bool {
        SecretBytes(text).withUnsafeBytes { KernelKeyring.update(stored, with: $0) }
    }

    @Test func key_updated_isTheSameKeyWithTheNewSecret() throws {
        let stored = try key.store("first")
        #expect(update(stored, "second, and longer"))
        #expect(try key.find() == stored)
        #expect(try key.read() == "second, and longer")
    }

    @Test func key_removed_isNotUpdated() throws {
        let stored = try key.store("first")
        try KernelKeyring.remove(stored)
        #expect(!update(stored, "second"))
        #expect(try key.find() == nil)
    }

    @Test func key_revoked_isNotUpdated() throws {
        let stored = try key.store("first")
        // The process that asks possesses the key from then on.
        #expect(KernelKeyring.isAlive(stored))
        #expect(test_revoke_key(stored.serial) == 0)
        #expect(!update(stored, "second"))
        #expect(try key.find() == nil)
    }

    @Test func key_unlinkedByHand_isNotUpdated() throws {
        let stored = try key.store("first")
        #expect(test_unlink_from_user_keyring(stored.serial) == 0)
        #expect(!update(stored, "second"))
        #expect(try key.find() == nil)
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
        try waitUntil("The end of a key") { !KernelKeyring.isAlive(stored) }
        #expect(try KernelKeyring.read(stored) == nil)
        #expect(try key.find() == nil)
        try KernelKeyring.remove(stored)
    }

    @Test func key_storedAfterTheOldOneExpired_isReadAgain() throws {
        let expired = try key.store("first", timeout: .seconds(1))
        try waitUntil("The end of a key") { !KernelKeyring.isAlive(expired) }
        _ = try key.store("second")
        #expect(try key.read() == "second")
    }

    @Test func key_pastItsTime_isNotUpdated() throws {
        let expired = try key.store("first", timeout: .seconds(1))
        while KernelKeyring.isAlive(expired) { usleep(20_000) }
        #expect(!update(expired, "second"))
        #expect(try key.find() == nil)
    }

    /// Of keys that are changed in time, although the kernel ends them up to a second earlier.
    private static let timeout = Duration.seconds(10)

    @Test func timeout_tillAnotherKeyExpired_isLiftedByAnUpdate() throws {
        let clock = TestKey()
        #expect(update(try key.store("first", timeout: Self.timeout), "second"))
        let expiring = try clock.store("x", timeout: Self.timeout)
        try waitUntil("The end of a key") { !KernelKeyring.isAlive(expiring) }
        #expect(try key.read() == "second")
    }

    @Test func timeout_tillAnotherKeyExpired_countsAgainWhenStoredAgainAndCanBeLifted() throws {
        let (clock, renewed, lifted) = (TestKey(), TestKey(), TestKey())
        _ = try renewed.store("first", timeout: Self.timeout)
        _ = try renewed.store("second", timeout: .seconds(600))
        try KernelKeyring.setTimeout(nil, of: lifted.store("kept", timeout: Self.timeout))
        let expiring = try clock.store("x", timeout: Self.timeout)
        try waitUntil("The end of a key") { !KernelKeyring.isAlive(expiring) }
        #expect(try renewed.read() == "second")
        #expect(try lifted.read() == "kept")
    }
}
