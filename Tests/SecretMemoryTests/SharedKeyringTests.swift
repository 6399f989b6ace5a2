// SPDX-License-Identifier: Apache-2.0
// Keys of the kernel as other processes, threads and namespaces see them.

import CTestShims
import Foundation
import KeychainTestSupport
import SecretMemory
import Testing

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

    /// A key without a timeout would keep a vault open until the machine shuts down.
    @Test func key_ofAProcessKilledBeforeItHasItsTimeout_isFoundByNobody() throws {
        #expect(try Exerciser.run("key-store-killed", key.name, "secret") == ["ended with \(SIGSYS)"])
        #expect(try key.find() == nil)
    }

    @Test func key_whoseSuccessorIsOfAProcessKilledBeforeItHasItsTimeout_staysAsItWas() throws {
        let first = try key.store("first")
        #expect(try Exerciser.run("key-store-killed", key.name, "second") == ["ended with \(SIGSYS)"])
        #expect(try key.find() == first)
        #expect(try key.read() == "first")
    }

    @Test func key_removedHere_isGoneAtOnceForWhoeverHoldsIt() throws {
        let stored = try key.store("secret")
        let holder = try RunningExerciser(["key-hold", key.name])
        #expect(holder.line() == "alive")
        try KernelKeyring.remove(stored)
        try holder.send("again")
        #expect(holder.line() == "gone")
        #expect(try holder.finish().lines == ["none"])
    }

    /// The process keyring that a process needs to possess the key counts for the user's quota. A vault could not be locked.
    @Test(.enabled(if: Programs.strace != nil, "strace cannot trace here"))
    func key_removedWhereTheQuotaIsUsedUp_isGone() throws {
        let stored = try key.store("secret")
        let strace = try #require(Programs.strace)
        // The calls: a new session, the search, the removal that is denied, and the link that makes the process keyring.
        let words = [strace, "-f", "-o", "/dev/null", "-e", "trace=keyctl", "-e", "inject=keyctl:error=EDQUOT:when=4"]
        #expect(try Exerciser.run("key-remove", key.name, under: words) == ["removed"])
        #expect(!KernelKeyring.isAlive(stored))
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
        let racers = try (0..<4).map { _ in try RunningExerciser(["key-race", key.name, "\(Self.rounds)"]) }
        for racer in racers {
            let result = try racer.finish()
            #expect(result.lines == ["done"] && result.hasEndedWell, "\(result)")
        }
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
