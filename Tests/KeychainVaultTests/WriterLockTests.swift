// SPDX-License-Identifier: Apache-2.0
// What holds under the writer lock: the end of a call, the keybag, and the lock file itself.

import Foundation
import KeychainEngine
import KeychainTestSupport
import Synchronization
import Testing

@testable import KeychainVault

struct WriterLockTests {
    private static let timeout = KeychainError(.timedOut, "The test's time is up.")

    /// An addition whose call the gate ends.
    private static func late(_ gate: CommitGate) -> Query {
        var query = Query.genericPassword("s", "late", value: "v")
        query.questions = Query.Questions(cancellation: AuthenticationCancellation(), gate: gate) { _ in }
        return query
    }

    // MARK: - The end of a call

    @Test(arguments: [false, true])
    func transaction_whoseCallEndsWhileItRuns_isRolledBack(inMemory: Bool) throws {
        let test = try TestVault()
        let engine = inMemory ? Engine(store: MemoryStore()) : test.engine
        try engine.add(.genericPassword("s", "before", value: "v"))
        let gate = CommitGate()
        let query = Self.late(gate)
        let result = reason {
            try engine.transaction(as: query) { (requests) throws(KeychainError) in
                try requests.add(query, accessGroups: .unrestricted)
                _ = try requests.delete(.genericPassword("s", "before"), accessGroups: .unrestricted)
                _ = gate.close(Self.timeout)
            }
        }
        #expect(result == .timedOut)
        #expect(try engine.text(.genericPassword("s", "before")) == "v")
        #expect(reason { _ = try engine.text(.genericPassword("s", "late")) } == .itemNotFound)
    }

    @Test func call_thatHasEnded_beginsNoFurtherChange() throws {
        let test = try TestVault()
        let gate = CommitGate()
        let query = Self.late(gate)
        try test.engine.add(query)
        #expect(gate.close(Self.timeout))
        #expect(reason { try test.engine.delete(query) } == .timedOut)
        #expect(try test.engine.text(.genericPassword("s", "late")) == "v")
    }

    @Test func call_thatEndsWhileItWaitsForTheLock_waitsNoLonger() throws {
        var settings = VaultSettings()
        settings.writerTimeout = .seconds(600)
        let test = try TestVault(settings)
        try test.engine.add(.genericPassword("s", "before", value: "v"))
        let held = try HeldLock(test.location.lockFile)
        let gate = CommitGate()
        let query = Self.late(gate)
        let writer = Background { try test.engine.add(query) }
        try waitUntil("A writer at the lock file") { try Self.openings(of: test.location.lockFile) >= 2 }
        #expect(gate.close(Self.timeout))
        #expect(writer.reason() == .timedOut)
        held.release()
        #expect(reason { _ = try test.engine.text(.genericPassword("s", "late")) } == .itemNotFound)
    }

    @Test func gate_whileAChangeIsCommitted_closesAfterIt() throws {
        let gate = CommitGate()
        try gate.enter()
        #expect(!gate.close(Self.timeout))
        #expect(reason { try gate.check() } == .timedOut)
        gate.leave()
        #expect(reason { try gate.enter() } == .timedOut)
        #expect(gate.close(Self.timeout))
    }

    // MARK: - The lock file

    @Test func writer_whoseLockFileWasReplacedWhileItWaited_waitsForTheNewOne() throws {
        var settings = VaultSettings()
        settings.writerTimeout = .seconds(20)
        let test = try TestVault(settings)
        try test.engine.add(.genericPassword("s", "before", value: "v"))
        let old = try HeldLock(test.location.lockFile)
        let writer = Background { try test.engine.add(.genericPassword("s", "a", value: "v")) }
        // It waits for the file that is there now, so that is the one it has to have opened.
        try waitUntil("A writer at the lock file") { try Self.openings(of: test.location.lockFile) >= 2 }
        #expect(unlink(test.location.lockFile) == 0)
        try Vault(test.location).engine.add(.genericPassword("s", "other", value: "v"))
        let new = try HeldLock(test.location.lockFile)
        old.release()
        #expect(writer.reason() == .busy)
        new.release()
        try test.engine.add(.genericPassword("s", "a", value: "v"))
    }

    /// The descriptors of this process that lead to the file.
    private static func openings(of path: String) throws -> Int {
        let identity = try #require(FileIdentity(path))
        // Listing a folder of descriptors fails at times while other tests open and close theirs.
        return (Int32(0)..<4096).filter { descriptor in
            var status = stat()
            return fstat(descriptor, &status) == 0 && FileIdentity(status) == identity
        }.count
    }

    @Test func lockFile_thatWasRemoved_isMadeAgainWithTheMarker() throws {
        let test = try TestVault()
        try test.engine.add(.genericPassword("s", "a", value: "v"))
        #expect(unlink(test.location.lockFile) == 0)
        try test.engine.add(.genericPassword("s", "b", value: "v"))
        #expect(try VaultMarker.isPresent(test.location))
    }

    // MARK: - The keybag

    /// The rotation is committed by another connection while the writer, which knows the keybag of before, waits for the
    /// database.
    @Test func item_savedWhileTheKeybagIsReplaced_opens() throws {
        let (test, rotated) = (try TestVault(), try TestVault())
        try test.engine.add(.genericPassword("s", "before", value: "v"))
        try test.vault.close()
        try FileManager.default.copyItem(atPath: test.location.folder, toPath: rotated.location.folder)
        let copy = Vault(
            try VaultLocation(folder: rotated.location.folder, deviceKeyFile: test.location.deviceKeyFile), .cheap)
        try copy.rotate()
        try copy.close()
        _ = try test.engine.text(.genericPassword("s", "before"))
        let other = try Connection(test.databaseFile)
        try other.execute("ATTACH '\(rotated.databaseFile)' AS rotated")
        try other.execute("BEGIN IMMEDIATE")
        let writer = Background { try test.engine.add(.genericPassword("s", "a", value: "v")) }
        try waitUntil("A writer with the lock") { try HeldLock.isHeld(test.location.lockFile) }
        for table in ["keybag", "keybag_copy", "item", "lookup", "head"] {
            try other.execute("DELETE FROM main.\(table); INSERT INTO main.\(table) SELECT * FROM rotated.\(table)")
        }
        try other.execute("COMMIT")
        #expect(writer.reason() == nil)
        try other.close()
        let engine = test.reopened()
        #expect(try engine.text(.genericPassword("s", "before")) == "v")
        #expect(try engine.text(.genericPassword("s", "a")) == "v")
    }

    @Test func processes_whoseLockFileIsRemovedWhileAnotherRotates_loseNothing() throws {
        let test = try TestVault(.cheap)
        try test.engine.add(.genericPassword("s", "before", value: "v"))
        let children = try (0..<3).map { worker in
            try ChildProcess(
                Exerciser.path, test.exerciserArguments(["swarm", "\(worker)", "120"])
            ).start()
        }
        let isOver = Atomic(false)
        let remover = Background {
            while !isOver.load(ordering: .relaxed) {
                unlink(test.location.lockFile)
                usleep(500)
            }
        }
        let rotator = Background {
            while !isOver.load(ordering: .relaxed) {
                if let reason = reason({ try test.another().rotate() }), reason != .busy {
                    throw KeychainError(reason, "")
                }
            }
        }
        let events = try children.flatMap { try $0.finish().lines.compactMap(SwarmEvent.init) }
        isOver.store(true, ordering: .relaxed)
        #expect(remover.reason() == nil)
        #expect(rotator.reason() == nil)
        #expect(events.count == 3 * 120)
        let unexpected = events.filter { !["ok", "duplicateItem", "itemNotFound", "busy"].contains($0.outcome) }
        #expect(unexpected.isEmpty, "\(unexpected.prefix(3))")
        let final = try test.state()
        for (key, history) in Dictionary(grouping: events, by: \.key) {
            for problem in SwarmHistory(events: history).problems(final: final[key]) {
                Issue.record("\(key): \(problem)")
            }
        }
        let status = try test.another().status()
        #expect(status.damagedCount == 0)
        #expect(status.quarantinedCount == 0)
    }
}

/// A lock that is held as another process would hold it.
struct HeldLock {
    private let descriptor: Int32

    init(_ path: String) throws {
        descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw CocoaError(.fileLocking) }
    }

    func release() { close(descriptor) }

    /// Whether a process holds it now.
    static func isHeld(_ path: String) throws -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw CocoaError(.fileNoSuchFile) }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_SH | LOCK_NB) != 0
    }
}

/// Work on a thread of its own.
final class Background: Sendable {
    private let ending = Mutex<KeychainError.Reason?>(nil)
    private let semaphore = DispatchSemaphore(value: 0)

    init(_ body: @escaping @Sendable () throws -> Void) {
        Thread.detachNewThread { [self] in
            let found = KeychainVaultTests.reason(body)
            ending.withLock { $0 = found }
            semaphore.signal()
        }
    }

    /// Waits for the end, but not for ever; the reason of the failure, `nil` if it went well.
    func reason() -> KeychainError.Reason? {
        let limit = DispatchTimeInterval.seconds(Int(Duration.testLimit.components.seconds))
        guard semaphore.wait(timeout: .now() + limit) == .success else { return .unavailable }
        return ending.withLock { $0 }
    }
}
