// SPDX-License-Identifier: Apache-2.0
// What a machine has seen: the number of writes of each writer.

import KeychainCrypto

/// For each writer, the counter of the last write that was seen. Writers whose counter is zero are omitted.
package struct VersionVector: Equatable, Sendable {
    package private(set) var counters: [WriterID: UInt64] = [:]

    package init() {}

    package init(_ counters: [WriterID: UInt64]) { self.counters = counters.filter { $0.value > 0 } }

    package subscript(writer: WriterID) -> UInt64 {
        get { counters[writer] ?? 0 }
        set { counters[writer] = newValue == 0 ? nil : newValue }
    }

    package func covers(_ dot: Dot) -> Bool { self[dot.writer] >= dot.counter }

    package func covers(_ other: VersionVector) -> Bool {
        other.counters.allSatisfy { self[$0.key] >= $0.value }
    }

    /// The writes that the other vector covers and this one does not.
    package func missing(from other: VersionVector) -> VersionVector {
        VersionVector(other.counters.filter { self[$0.key] < $0.value })
    }

    package mutating func join(_ other: VersionVector) {
        counters.merge(other.counters) { max($0, $1) }
    }

    /// How many writers are in this one or in the other.
    package func count(with other: VersionVector) -> Int {
        counters.count + other.counters.keys.count { counters[$0] == nil }
    }

    package func without(_ writer: WriterID) -> VersionVector {
        var copy = self
        copy[writer] = 0
        return copy
    }

    /// In the order of the writers.
    package var sorted: [(writer: WriterID, counter: UInt64)] {
        counters.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}

extension VersionVector {
    /// Number of entries (`u16`), then writer and counter of each, in the order of the writers.
    func write(to writer: inout ByteWriter) {
        writer.append(bigEndian: UInt16(counters.count))
        for entry in sorted {
            writer.append(bigEndian: entry.writer.number)
            writer.append(bigEndian: entry.counter)
        }
    }

    init(from reader: inout ByteReader) throws(Refusal) {
        let count = try reader.count(UInt16.self, atMost: Bounds.writers, ofAtLeast: 16)
        var last: WriterID?
        for _ in 0..<count {
            let (writer, counter) = (try reader.writer(), try reader.counter())
            guard counter > 0, last.map({ $0 < writer }) ?? true else { throw .malformed }
            counters[writer] = counter
            last = writer
        }
    }

    var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 2 + counters.count * 16)
        write(to: &writer)
        return writer.bytes
    }
}
