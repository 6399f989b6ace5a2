// SPDX-License-Identifier: Apache-2.0
// Rows that were read recently, still sealed.

import KeychainEngine
import SecretMemory

/// The sealed rows that answered the last reads. They save the search; each read opens its row again.
///
/// A row is only valid for the state of the vault in which it was found. The end of the WAL identifies that state, so a
/// commit of any process invalidates all rows. A row is also only valid for the keys that were open then, because with
/// other keys the search may have another result.
///
/// The reads are stored as the caller passed them, until other reads replace them or a read detects a change.
final class ReadCache: Sendable {
    private struct Entry {
        let hash: Int
        let read: [UInt8]
        let row: SealedRow
    }

    private struct Contents {
        /// Of all entries: the end of the WAL, and the number of the keys (``RowSealer/serial``).
        var end: WALHeader?
        var keys: UInt64 = 0
        var entries: [Entry] = []
        /// The entry that is replaced next, once the cache is full.
        var next = 0
    }

    /// A part of the cache for some of the reads, so that threads rarely wait for each other.
    private final class Shard: Sendable {
        let contents = Guarded(Contents())

        /// Does not wait: a thread that is suspended while it holds the lock would stop all threads with the same read.
        /// Such a read is searched instead.
        @discardableResult
        func tryWithContents<Result>(_ body: (inout Contents) -> Result) -> Result? {
            for _ in 1...ReadCache.tries {
                if let result = contents.withLockIfAvailable({ Optional(body(&$0)) }) { return result }
            }
            return nil
        }
    }

    /// All tries together take less than a microsecond.
    private static let tries = 32

    private static let entriesPerShard = 64
    /// In bytes. With these limits all entries together need at most 1.3 MB.
    static let (longestRead, longestValue) = (ReadName.longest, FoundRow.longestValue)

    private let shards = (0..<16).map { _ in Shard() }

    /// - Parameters:
    ///   - end: The end of the WAL, read after the call began.
    ///   - keys: The number of the sealer that will open the row.
    func row(_ read: UnsafeRawBufferPointer, _ end: WALHeader, keys: UInt64) -> SealedRow? {
        let hash = Self.hash(read)
        let found: SealedRow?? = shard(hash).tryWithContents { contents in
            guard contents.end == end,
                contents.keys == keys
            else {
                contents = Contents()
                return nil
            }
            return contents.entries.first { $0.hash == hash && $0.read.elementsEqual(read) }?.row
        }
        return found ?? nil
    }

    /// - Parameter end: The end of the WAL before the search and after it.
    func store(_ row: SealedRow, _ read: [UInt8], _ end: WALHeader, keys: UInt64) {
        guard read.count <= Self.longestRead, row.value?.count ?? 0 <= Self.longestValue else { return }
        let entry = Entry(hash: read.withUnsafeBytes(Self.hash), read: read, row: row.withValueOnly)
        shard(entry.hash).tryWithContents { contents in
            if contents.end != end || contents.keys != keys { contents = Contents(end: end, keys: keys) }
            if let index = contents.entries.firstIndex(where: { $0.hash == entry.hash && $0.read == read }) {
                contents.entries[index] = entry
            } else if contents.entries.count < Self.entriesPerShard {
                contents.entries.append(entry)
            } else {
                contents.entries[contents.next] = entry
                contents.next = (contents.next + 1) % Self.entriesPerShard
            }
        }
    }

    /// Call it when keys are locked.
    func removeAll() {
        for shard in shards { shard.contents.withLock { $0 = Contents() } }
    }

    private static func hash(_ read: UnsafeRawBufferPointer) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: read)
        return hasher.finalize()
    }

    private func shard(_ hash: Int) -> Shard { shards[hash & (shards.count - 1)] }
}
