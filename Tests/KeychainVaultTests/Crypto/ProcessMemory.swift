// SPDX-License-Identifier: Apache-2.0
// Searches the memory of another process.

import Foundation

/// The writable memory of a child: what another process of the same user could read of it.
struct ProcessMemory {
    static let requirement = "needs /proc/PID/mem"
    static let isAvailable = FileManager.default.isReadableFile(atPath: "/proc/self/mem")

    struct Region {
        let name: String
        /// Whether a core dump of the process would hold it.
        let isDumped: Bool
        let bytes: Data
    }

    let regions: [Region]

    init(of process: pid_t) throws {
        let memory = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/\(process)/mem"))
        defer { memory.closeFile() }
        regions = try Self.table(of: process).filter(\.isWritable).map { entry in
            Region(name: entry.name, isDumped: entry.isDumped, bytes: Self.read(memory, entry.start, entry.end))
        }
    }

    private struct Entry {
        let start: UInt
        let end: UInt
        let isWritable: Bool
        let name: String
        var isDumped = true

        /// - Returns: `nil` for a line that does not begin an entry.
        init?(_ line: Substring) {
            let fields = line.split(separator: " ", omittingEmptySubsequences: true)
            let ends = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            guard ends.count == 2, fields.count > 4 else { return nil }
            (start, end, isWritable) = (ends[0], ends[1], fields[1].hasPrefix("rw"))
            name = fields.count > 5 ? String(fields[5]) : "anonymous"
        }
    }

    /// The mappings of a process, in the words of proc(5): a line for each, then its properties, "dd" among the flags of what
    /// is left out of core dumps.
    private static func table(of process: pid_t) throws -> [Entry] {
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/\(process)/smaps"))
        defer { file.closeFile() }
        var entries: [Entry] = []
        for line in String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self).split(separator: "\n") {
            if let entry = Entry(line) {
                entries.append(entry)
            } else if line.hasPrefix("VmFlags:"), line.split(separator: " ").contains("dd"), !entries.isEmpty {
                entries[entries.count - 1].isDumped = false
            }
        }
        return entries
    }

    /// What can be read of it; the kernel refuses some mappings of its own.
    private static func read(_ memory: FileHandle, _ start: UInt, _ end: UInt) -> Data {
        var bytes = Data(count: Int(end - start))
        let count = bytes.withUnsafeMutableBytes {
            pread(memory.fileDescriptor, $0.baseAddress, $0.count, off_t(start))
        }
        return bytes.prefix(max(count, 0))
    }

    /// Which secrets lie somewhere, with the regions, and whether a core dump would hold them.
    func places(of search: NeedleSearch) -> [(place: NeedlePlace, isDumped: Bool)] {
        regions.flatMap { region in
            search.names(in: region.bytes).map { (NeedlePlace(needle: $0, place: region.name), region.isDumped) }
        }
    }

    var size: Int { regions.reduce(0) { $0 + $1.bytes.count } }

    /// Where any `window` bytes in a row of a secret lie, taken at every fourth byte or, of a long one, at 64 places.
    func findings(of secret: [UInt8], window: Int = 12) -> [String] {
        let starts = stride(from: 0, through: secret.count - window, by: max(4, secret.count / 64))
        // Most of the memory is zeros, where a search for a window that begins with one goes a byte at a time.
        return starts.filter { secret[$0] != 0 }.flatMap { start in
            regions.flatMap { region in
                Self.occurrences(of: Array(secret[start..<start + window]), in: region.bytes)
                    .map { "bytes from \(start) in \(region.name) at \(String($0, radix: 16))" }
            }
        }
    }

    private static func occurrences(of needle: [UInt8], in bytes: Data) -> [Int] {
        bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return [] }
            var found: [Int] = []
            var start = 0
            while bytes.count - start >= needle.count,
                let hit = memchr(base + start, Int32(needle[0]), bytes.count - start - needle.count + 1)
            {
                let offset = UnsafeRawPointer(hit) - base
                if memcmp(hit, needle, needle.count) == 0 { found.append(offset) }
                start = offset + 1
            }
            return found
        }
    }
}
