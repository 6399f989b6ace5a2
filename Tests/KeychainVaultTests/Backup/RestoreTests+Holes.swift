// SPDX-License-Identifier: Apache-2.0
// Restoring over a broken file that claims to be large: what is kept of it takes no more space than it did.

import Foundation
import KeychainEngine
import Testing

@testable import KeychainVault

extension RestoreTests {
    /// Bytes at places of a file of this size; the rest are holes.
    private static func makeSparse(_ path: String, size: off_t, _ parts: [(offset: off_t, bytes: Data)]) throws {
        try Data().write(to: URL(fileURLWithPath: path))
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        defer { file.closeFile() }
        try file.truncate(atOffset: UInt64(size))
        for part in parts {
            try file.seek(toOffset: UInt64(part.offset))
            try file.write(contentsOf: part.bytes)
        }
        try file.synchronize()
    }

    private static func status(_ path: String) throws -> stat {
        var status = stat()
        try #require(stat(path, &status) == 0)
        return status
    }

    private static func bytes(_ path: String, at offset: off_t, _ count: Int) throws -> Data {
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        defer { file.closeFile() }
        try file.seek(toOffset: UInt64(offset))
        return try file.read(upToCount: count) ?? Data()
    }

    @Test func sparseFile_thatIsNoDatabase_isKeptWithItsHoles() throws {
        let (test, file) = try vaultWithBackup()
        try test.vault.close()
        let size: off_t = (4 << 30) + 17
        let (text, middle) = (Data("nonsense".utf8), off_t(3 << 30) + 5)
        try FileManager.default.removeItem(atPath: test.databaseFile)
        try Self.makeSparse(test.databaseFile, size: size, [(0, text), (middle, text)])
        try #require(chmod(test.databaseFile, 0o600) == 0)
        let before = try Self.status(test.databaseFile)
        let replaced = try #require(try test.another().restore(from: file).replaced)
        let kept = try Self.status(replaced)
        #expect(kept.st_size == size)
        // In units of 512 bytes. A file system may round the end of each part up.
        #expect(kept.st_blocks <= before.st_blocks + 512 && kept.st_blocks < 1 << 20)
        #expect(try Self.bytes(replaced, at: 0, 9) == text + Data([0]))
        #expect(try Self.bytes(replaced, at: middle - 1, 10) == Data([0]) + text + Data([0]))
        #expect(try test.state().count == BackupTests.items)
        #expect(problems(test) == [])
    }

    @Test(arguments: [0, 1, 4096, 65536, 1 << 20, (1 << 20) + 1, 3 << 20])
    func file_ofAnySize_isCopiedByteByByte(size: Int) throws {
        let test = try TestVault()
        let (source, target) = (test.root + "/source", test.root + "/target")
        let bytes = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) })
        for hole in [0, 1 << 20] {
            try Self.makeSparse(source, size: off_t(size + 2 * hole), [(off_t(hole), bytes)])
            try #require(chmod(source, 0o600) == 0)
            let copy = try UnfinishedFile(test.root + "/.unfinished")
            try copy.fill(from: source)
            #expect(try copy.put(at: target, replacing: true))
            #expect(try Data(contentsOf: URL(fileURLWithPath: target)) == Data(count: hole) + bytes + Data(count: hole))
        }
    }
}
