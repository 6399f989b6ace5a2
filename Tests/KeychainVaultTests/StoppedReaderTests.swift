// SPDX-License-Identifier: Apache-2.0
// Removing items while another process is stopped during a read.

import Foundation
import KeychainEngine
import KeychainTestSupport
import Testing

@testable import KeychainVault

struct StoppedReaderTests {
    private static let (workers, count) = (8, 10)

    /// A vault with items for all workers, and a process that was stopped in the midst of a read.
    private static func stopped() throws -> (test: TestVault, reader: RunningExerciser) {
        let test = try TestVault()
        for worker in 0..<workers {
            for item in 0..<count {
                try test.engine.add(.genericPassword("exerciser", "\(worker)-\(item)", value: "v"))
            }
        }
        let reader = try test.running("hold-read")
        #expect(reader.line() == "reading")
        reader.stop()
        return (test, reader)
    }

    private static func walSize(_ test: TestVault) throws -> Int {
        try Data(contentsOf: URL(fileURLWithPath: test.databaseFile + "-wal")).count
    }

    /// If a deletion waited for the reader, it would hold the writer lock for longer than the others wait for that.
    @Test func deletions_besideAStoppedReader_areDoneWithoutWaitingForIt() throws {
        let (test, reader) = try Self.stopped()
        defer { reader.kill() }
        let children = try (0..<Self.workers).map { worker in
            try ChildProcess(
                Exerciser.path,
                test.exerciserArguments(["delete-each", "\(worker)", "\(Self.count)"]),
                environment: ["EXERCISER_WRITER_TIMEOUT": "20"]
            ).start()
        }
        let lines = try children.flatMap { try $0.finish().lines }
        #expect(lines.count == Self.workers * Self.count)
        #expect(Set(lines) == ["done"])
        #expect(try test.state().isEmpty)
    }

    @Test func removedData_thatAStoppedReaderKeepsInTheWAL_isSaidAndRemovedByTheNextWrite() throws {
        let (test, reader) = try Self.stopped()
        #expect(try !test.vault.status().walHoldsRemovedData)
        #expect(try test.exercise("delete", "0-0").lines == ["done"])
        #expect(try test.vault.status().walHoldsRemovedData)
        try test.engine.add(.genericPassword("s", "beside the reader", value: "v"))
        #expect(try test.vault.status().walHoldsRemovedData)
        #expect(Vault.examine(test.location).contains { $0.check == "removed-data" && $0.severity == .warning })
        reader.resume()
        #expect(try reader.finish().lines == ["done"])
        #expect(try Self.walSize(test) > 0)
        #expect(try test.exercise("add", "next", "v").lines == ["done"])
        #expect(try !test.vault.status().walHoldsRemovedData)
        #expect(try Self.walSize(test) == 0)
        #expect(!Vault.examine(test.location).contains { $0.check == "removed-data" })
    }

    /// The note about removed data was in that file.
    @Test func removedData_whoseLockFileWasRemoved_isSaidAndRemovedByTheNextWrite() throws {
        let test = try TestVault()
        try test.engine.add(.genericPassword("s", "gone", value: "v"))
        let reader = try test.running("hold-read")
        #expect(reader.line() == "reading")
        try test.engine.delete(.genericPassword("s", "gone"))
        #expect(unlink(test.location.lockFile) == 0)
        #expect(try test.vault.status().walHoldsRemovedData)
        #expect(Vault.examine(test.location).contains { $0.check == "removed-data" })
        try test.engine.add(.genericPassword("s", "beside the reader", value: "v"))
        #expect(try test.vault.status().walHoldsRemovedData)
        #expect(try reader.finish().lines == ["done"])
        #expect(try Self.walSize(test) > 0)
        try test.engine.add(.genericPassword("s", "next", value: "v"))
        #expect(try !test.vault.status().walHoldsRemovedData)
        #expect(try Self.walSize(test) == 0)
    }

    /// Otherwise each new vault would be said to have removed data.
    @Test func newVault_inUse_hasNoRemovedData() throws {
        let test = try TestVault()
        try test.engine.add(.genericPassword("s", "a", value: "v"))
        #expect(try Self.walSize(test) > 0)
        #expect(try !test.vault.status().walHoldsRemovedData)
    }

    @Test func removedData_withoutAReader_isGoneFromTheWALAtOnce() throws {
        let test = try TestVault()
        try test.engine.add(.genericPassword("s", "a", value: "v"))
        try test.engine.delete(.genericPassword("s", "a"))
        #expect(try !test.vault.status().walHoldsRemovedData)
        #expect(try Self.walSize(test) == 0)
    }
}
