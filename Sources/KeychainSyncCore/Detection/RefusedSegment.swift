// SPDX-License-Identifier: Apache-2.0
// Confirmed segments that a carrier did not make, as it said.

import Foundation
import KeychainCrypto

/// A confirmed segment of this machine that the carrier refused, or did not answer. If it is shown nevertheless, the carrier has lied, and
/// the machine was not copied.
struct RefusedSegment: Equatable, Sendable {
    let writer: WriterID
    let number: UInt64
    /// Until when it is remembered, in milliseconds since 1970.
    let until: UInt64
    /// Whether the carrier has said that it did not make it; `false` if it has not answered.
    let isCertain: Bool
    /// Whether it was shown against what the carrier had said.
    var isShown = false

    var name: ObjectName { .segment(writer, number) }

    static let lifetime: UInt64 = 30 * 86_400_000

    init(_ writer: WriterID, _ number: UInt64, isCertain: Bool, at now: UInt64) {
        (self.writer, self.number, self.isCertain) = (writer, number, isCertain)
        until = now &+ Self.lifetime
    }

    // MARK: - Stored form

    var bytes: Data {
        var writer = ByteWriter(capacity: 26)
        writer.append(bigEndian: self.writer.number)
        writer.append(bigEndian: number)
        writer.append(bigEndian: until)
        writer.append(isCertain)
        writer.append(isShown)
        return writer.data
    }

    init(from reader: inout ByteReader) throws(Refusal) {
        (writer, number, until) = (try reader.writer(), try reader.counter(), try reader.number())
        (isCertain, isShown) = (try reader.flag(), try reader.flag())
    }
}
