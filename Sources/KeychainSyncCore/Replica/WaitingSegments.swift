// SPDX-License-Identifier: Apache-2.0
// Segments that were received and cannot be applied yet.

import Foundation

/// Segments as they were received, by writer and number.
package struct WaitingSegments: Sendable {
    private(set) var logs: [WriterID: [UInt64: Data]] = [:]
    private var size = 0

    var writers: [WriterID] { logs.keys.sorted() }

    subscript(writer: WriterID, number: UInt64) -> Data? { logs[writer]?[number] }

    /// - Parameter isNext: Whether it is the next segment of its log. Such a segment is also kept if there is no room.
    mutating func add(_ writer: WriterID, _ number: UInt64, _ bytes: Data, isNext: Bool) {
        guard self[writer, number] == nil, isNext || size + bytes.count <= Bounds.waiting else { return }
        logs[writer, default: [:]][number] = bytes
        size += bytes.count
    }

    mutating func remove(_ writer: WriterID, _ number: UInt64) {
        guard let bytes = logs[writer]?.removeValue(forKey: number) else { return }
        size -= bytes.count
        if logs[writer]?.isEmpty == true { logs[writer] = nil }
    }

    mutating func removeAll(of writer: WriterID, through number: UInt64) {
        for old in (logs[writer] ?? [:]).keys where old <= number { remove(writer, old) }
    }
}
