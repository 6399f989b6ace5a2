// SPDX-License-Identifier: Apache-2.0
// The size of the space that is kept for removals; see FullDiskTests for what happens on a full disk.

import Foundation
import KeychainEngine
import KeychainTestSupport
import Testing

@testable import KeychainVault

struct ReserveTests {
    private static func size(_ vault: TestVault) throws -> Int {
        let path = vault.location.folder + "/" + VaultLocation.reserveName
        return try #require(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
    }

    /// The same length without blocks, as in a copy by `cp --sparse=always` or `tar -S`.
    /// - Parameter wanted: The size; `nil`: the one that it has.
    private static func makeSparse(_ vault: TestVault, size wanted: Int? = nil) throws {
        let (path, size) = (vault.location.folder + "/" + VaultLocation.reserveName, try wanted ?? size(vault))
        try #require(truncate(path, 0) == 0 && truncate(path, off_t(size)) == 0)
        try #require(try hasHoles(vault))
    }

    private static func hasHoles(_ vault: TestVault) throws -> Bool {
        var status = stat()
        try #require(lstat(vault.location.folder + "/" + VaultLocation.reserveName, &status) == 0)
        return Int(status.st_blocks) * 512 < Int(status.st_size)
    }

    private static func large(_ account: String) -> Query {
        .genericPassword("reserve", account, value: String(repeating: "x", count: 2_000_000))
    }

    /// Some file systems over networks tell of so much.
    @Test func space_ofMoreBytesThanNumbers_canBeAddedToTheSizeOfAFile() {
        for (blocks, size) in [(1 << 63, 1), (.max, .max), (1 << 60, 16), (1 << 51, 4096)] as [(UInt64, UInt64)] {
            let (sum, isBeyond) = DiskSpace.bytes(blocks, ofSize: size).addingReportingOverflow(1 << 40)
            #expect(!isBeyond && sum > 1 << 60, "\(blocks) blocks of \(size) bytes")
        }
        #expect(DiskSpace.bytes(3, ofSize: 4096) == 12288)
    }

    @Test func valueThatIsRolledBack_leavesTheReserveAsItWas() throws {
        let test = try TestVault()
        _ = try test.engine.transaction(as: Query(.genericPassword)) { (requests) throws(KeychainError) in
            try requests.add(.genericPassword("reserve", "small", value: "v"), accessGroups: .unrestricted)
        }
        #expect(throws: KeychainError.self) {
            try test.engine.transaction(as: Query(.genericPassword)) { (requests) throws(KeychainError) in
                try requests.add(Self.large("large"), accessGroups: .unrestricted)
                throw KeychainError(.cancelled, "The user has changed their mind.")
            }
        }
        #expect(try Self.size(test) == Reserve.size)
    }

    @Test func vaultRestoredFromABackup_reservesWhatItsLargestValueNeeds() throws {
        let test = try TestVault()
        _ = try test.engine.add(Self.large("large"), accessGroups: .unrestricted)
        let enlarged = try Self.size(test)
        #expect(enlarged > 2_000_000)
        let backup = test.location.folder + ".backup"
        try test.vault.backup(to: backup)
        defer { unlink(backup) }
        try test.engine.delete(Query(.genericPassword), accessGroups: .unrestricted)
        #expect(try Self.size(test) == Reserve.size)
        try test.vault.restore(from: backup)
        #expect(try Self.size(test) == enlarged)
    }

    /// A writer that is killed before its commit has reserved space for a value that is not there.
    @Test func reserveOfAChangeThatWasNotCommitted_isFreedByTheNextWrite() throws {
        let test = try TestVault()
        _ = try test.engine.add(.genericPassword("reserve", "small", value: "v"), accessGroups: .unrestricted)
        #expect(try Reserve(test.location).cover(rowOf: 2_000_000) == Reserve.size)
        #expect(try Self.size(test) > 2_000_000)
        _ = try test.engine.add(.genericPassword("reserve", "other", value: "v"), accessGroups: .unrestricted)
        #expect(try Self.size(test) == Reserve.size)
    }

    @Test func reserveThatWasLost_isMadeAgainInTheSizeOfTheLargestValue() throws {
        let test = try TestVault()
        _ = try test.engine.add(Self.large("large"), accessGroups: .unrestricted)
        let enlarged = try Self.size(test)
        unlink(test.location.folder + "/" + VaultLocation.reserveName)
        _ = try test.engine.add(.genericPassword("reserve", "small", value: "v"), accessGroups: .unrestricted)
        #expect(try Self.size(test) == enlarged)
    }

    /// The rows could not be read just now.
    @Test func reserve_whileTheLargestValueIsUnknown_keepsItsSize() throws {
        let test = try TestVault()
        _ = try test.engine.add(Self.large("large"), accessGroups: .unrestricted)
        let (reserve, enlarged) = (Reserve(test.location), try Self.size(test))
        reserve.restore(removed: 3_000_000) { nil }
        #expect(try Self.size(test) == enlarged)
        reserve.restore(removed: 3_000_000) { 100 }
        #expect(try Self.size(test) == Reserve.size)
    }

    @Test func reserveOfASparseCopy_isAllocatedByTheNextWrite() throws {
        let test = try TestVault()
        _ = try test.engine.add(Self.large("large"), accessGroups: .unrestricted)
        let enlarged = try Self.size(test)
        try Self.makeSparse(test)
        _ = try test.reopened().add(.genericPassword("reserve", "small", value: "v"), accessGroups: .unrestricted)
        #expect(try !Self.hasHoles(test))
        #expect(try Self.size(test) == enlarged)
    }

    /// Somebody else has made it: its blocks could fill the disk.
    @Test func sparseReserve_thatIsLargerThanAnyValueNeeds_isMadeAnew() throws {
        let test = try TestVault()
        _ = try test.engine.add(.genericPassword("reserve", "first", value: "v"), accessGroups: .unrestricted)
        try Self.makeSparse(test, size: 2 << 30)
        _ = try test.reopened().add(.genericPassword("reserve", "second", value: "v"), accessGroups: .unrestricted)
        #expect(try !Self.hasHoles(test) && Self.size(test) == Reserve.size)
    }

    /// Some file systems compress the file, or count its blocks late. Allocating it with each write would be slow there.
    @Test func reserveThatKeepsItsHoles_isAllocatedOnceInASession() throws {
        let test = try TestVault()
        let engine = test.engine
        _ = try engine.add(.genericPassword("reserve", "first", value: "v"), accessGroups: .unrestricted)
        try Self.makeSparse(test)
        _ = try engine.add(.genericPassword("reserve", "second", value: "v"), accessGroups: .unrestricted)
        #expect(try Self.hasHoles(test))
    }
}
