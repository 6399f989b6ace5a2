// SPDX-License-Identifier: Apache-2.0
// One call of a program that shares a keychain with others.

import Foundation

/// A call about one key that a process has written down, for ``CallHistory``.
///
/// A read has what it found as its value; a removal, and a read that found nothing, have ``absent``. The times are
/// nanoseconds of a clock that all processes share, directly before and after the call.
@_spi(Wrappers) public struct RecordedCall: Sendable {
    /// The value of an item that is not there.
    public static let absent = "-"

    public let verb: String
    public let key: String
    public let value: String
    public let start: UInt64
    public let end: UInt64
    /// `ok`, or the reason of the error.
    public let outcome: String

    public init(verb: String, key: String, value: String, start: UInt64, end: UInt64, outcome: String) {
        self.verb = verb
        self.key = key
        self.value = value
        self.start = start
        self.end = end
        self.outcome = outcome
    }

    /// What was found after all other calls had ended.
    public static func lastLook(at key: String, found value: String?) -> RecordedCall {
        RecordedCall(verb: "read", key: key, value: value ?? absent, start: .max - 1, end: .max, outcome: "ok")
    }

    var isRead: Bool { verb == "read" }
}

// MARK: - From process to process

extension RecordedCall {
    /// - Returns: `nil` if the line was not written by ``line``.
    public init?(_ line: String) {
        let fields = line.split(separator: " ").map(String.init)
        guard fields.count == 6, let start = UInt64(fields[3]), let end = UInt64(fields[4]) else { return nil }
        self.init(verb: fields[0], key: fields[1], value: fields[2], start: start, end: end, outcome: fields[5])
    }

    /// The call as one line of text. No part of it may have a space or be empty.
    public var line: String { "\(verb) \(key) \(value) \(start) \(end) \(outcome)" }

    /// Nanoseconds of the clock that all processes of this machine share.
    public static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
