// SPDX-License-Identifier: Apache-2.0
// What puts the idle timeout of an unlocking off, and what does not.

import Foundation
import KeychainEngine
import KeychainTestSupport
import SecretMemory
import Testing

@testable import KeychainVault

@Suite(.enabled(if: KernelTime.isShown && KernelUnlockCache.isUsable, "the kernel shows no keys to this process"))
struct IdleTimeoutTests {
    /// Unlocked for an hour without use, of which all but fifty seconds are over.
    private struct Almost {
        let test: TestVault
        let key: KernelKeyring.Key

        init() throws {
            test = try TestVault.locked()
            let vault = test.another()
            try vault.unlock(.old, idleTimeout: .seconds(3600))
            key = try IdleTimeoutTests.key(vault)
            try letTimePass()
        }

        func letTimePass() throws { try KernelKeyring.setTimeout(.seconds(50), of: key) }

        var isStillAlmostOver: Bool {
            get throws {
                guard let isShort = try KernelTime.isShort(key) else { throw KeychainError(.itemNotFound, "no key") }
                return isShort
            }
        }
    }

    /// The keys of fifty seconds may be gone before the end of a case on a busy machine: it is tried again if it took that long.
    private static func inTime<Outcome>(_ body: () throws -> Outcome) throws -> Outcome {
        for _ in 0..<9 {
            let start = ContinuousClock.now
            let result = Result { try body() }
            if ContinuousClock.now - start < .seconds(40) { return try result.get() }
        }
        return try body()
    }

    private static func isAlmostOver(after act: (TestVault) throws -> Void) throws -> Bool {
        try inTime {
            let almost = try Almost()
            defer { do { try almost.test.forget() } catch { Issue.record(error) } }
            try act(almost.test)
            return try almost.isStillAlmostOver
        }
    }

    private struct Unexpected: Error {
        let state: LockState
    }

    private static func checkIsUnlocked(_ vault: Vault) throws {
        let state = try vault.lockState
        guard state == .unlocked else { throw Unexpected(state: state) }
    }

    private static func key(_ vault: Vault) throws -> KernelKeyring.Key {
        let found = try #require(try vault.session().keyState.find(.unlocked))
        guard case .kernel(let key) = found.token else { throw KeychainError(.unavailable, "not in the kernel") }
        return key
    }

    /// As `keychainctl status` and `doctor` do, and a program that watches.
    private static let looks: [(name: String, look: @Sendable (TestVault) throws -> Void)] = [
        ("status", { _ = try $0.another().status() }),
        ("doctor", { _ = Vault.examine($0.location, .cheap) }),
        ("lockState", { _ = try $0.another().lockState }),
        ("opensByItself", { _ = try $0.another().opensByItself }),
        ("protectors", { _ = try $0.another().protectors }),
        ("observe", { _ = try $0.another().observe {} }),
        ("quarantinedItems", { _ = try $0.another().quarantinedItems() }),
        ("headReport", { _ = try $0.another().headReport() }),
        ("repairIndex", { _ = try $0.another().repairIndex() }),
        (
            "settings",
            { test in
                let selection = Selection(itemClass: .genericPassword)
                _ = try test.another().select(selection, limit: 1, includingValues: false, .none.looking)
            }
        ),
        ("inRing", { try $0.another().inRing { (ring) throws(KeychainError) in _ = try ring.keyGeneration() } }),
        (
            "differences",
            { test in
                _ = try test.another().differences([Selection(itemClass: .genericPassword)], from: [:])
            }
        ),
    ]

    @Test(arguments: looks.map(\.name)) func look_atAnUnlockedVault_doesNotPutTheTimeoutOff(name: String) throws {
        let look = try #require(Self.looks.first { $0.name == name }).look
        #expect(try Self.isAlmostOver { test in for _ in 0..<3 { try look(test) } })
    }

    /// One process that does all of it, again and again.
    @Test func looksByOneVault_doNotPutTheTimeoutOff() throws {
        let isAlmostOver = try Self.isAlmostOver { test in
            let vault = test.another()
            for _ in 0..<3 {
                try Self.checkIsUnlocked(vault)
                _ = try vault.status()
                _ = try vault.differences([Selection(itemClass: .genericPassword)], from: [:])
            }
        }
        #expect(isAlmostOver)
    }

    @Test func itemRead_putsTheTimeoutOff() throws {
        var value: String?
        #expect(try !Self.isAlmostOver { value = try $0.another().engine.text(.find(.whenUnlocked)) })
        #expect(value == "value")
    }

    @Test func itemWritten_putsTheTimeoutOff() throws {
        #expect(try !Self.isAlmostOver { try $0.another().engine.update(.find(.whenUnlocked), value: "another") })
    }

    /// A process that has seen the previous entry must not renew the new one with the previous timeout.
    @Test func idleTimeout_madeShorter_holdsForWhoHasReadTheLongerOne() throws {
        let test = try TestVault.locked()
        let (value, isShort) = try Self.inTime {
            let (vault, reading) = (test.another(), test.another())
            try vault.unlock(.old, idleTimeout: .seconds(3600))
            // A look and no use: the first use, which follows, renews in any case.
            try Self.checkIsUnlocked(reading)
            try vault.unlock(.old, idleTimeout: .seconds(50))
            return (try reading.engine.text(.find(.whenUnlocked)), try KernelTime.isShort(Self.key(vault)))
        }
        #expect(value == "value" && isShort == true)
        try test.forget()
    }

    /// Looking first must not make a use that follows count as renewed already.
    @Test func itemRead_rightAfterALook_putsTheTimeoutOff() throws {
        var value: String?
        let isAlmostOver = try Self.isAlmostOver { test in
            let vault = test.another()
            try Self.checkIsUnlocked(vault)
            value = try vault.engine.text(.find(.whenUnlocked))
        }
        #expect(value == "value" && !isAlmostOver)
    }

    /// An entry of 59 seconds of which the kernel shows a whole minute at first, before its next second begins.
    private static func hasTheKernelsMinute(after act: (UnlockToken) -> Void = { _ in }) throws -> Bool {
        let (cache, vaultID) = (KernelUnlockCache(), UUID())
        defer { do { try cache.remove(.unlocked, vaultID: vaultID) } catch { Issue.record(error) } }
        let entry = UnlockEntry(bootID: .zero, idleTimeout: .seconds(59), keys: .random(count: 32))
        let token = try cache.store(entry, .unlocked, vaultID: vaultID)
        act(token)
        guard case .kernel(let key) = token else { return false }
        return try KernelTime.isShort(key) == false
    }

    /// The kernel's keys expire when its clock shows a second, up to one second before their time is over. In one of several
    /// attempts the clock does not show the next one in between.
    @Test func kernel_isGivenOneSecondMore_whenTheEntryIsStored() throws {
        #expect(try (0..<20).contains { _ in try Self.hasTheKernelsMinute() })
    }

    @Test func kernel_isGivenOneSecondMore_whenTheEntryIsRenewed() throws {
        let renewed = try (0..<20).contains { _ in
            try Self.hasTheKernelsMinute {
                KernelUnlockCache().renew($0, .seconds(20))
                KernelUnlockCache().renew($0, .seconds(59))
            }
        }
        #expect(renewed)
    }
}
