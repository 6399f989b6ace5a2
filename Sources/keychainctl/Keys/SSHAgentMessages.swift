// SPDX-License-Identifier: Apache-2.0
// The messages of an SSH agent (draft-ietf-sshm-ssh-agent): their numbers, how they are written, and how they arrive.

import Foundation
import SecretMemory

/// What a client asks for.
enum SSHAgentRequest: UInt8 {
    case identities = 11
    case sign = 13
    case add = 17
    case remove = 18
    case removeAll = 19
    case lock = 22
    case unlock = 23
    case addConstrained = 25
}

/// Writes the parts of a message.
struct SSHMessageWriter {
    private(set) var message: Data

    init(_ type: UInt8) { message = Data([type]) }

    mutating func number(_ number: UInt32) {
        withUnsafeBytes(of: number.bigEndian) { message.append(contentsOf: $0) }
    }

    mutating func string(_ bytes: Data) {
        number(UInt32(bytes.count))
        message.append(bytes)
    }
}

/// A message while it arrives in pieces. It is in secret memory from the first byte on: it may contain a private key.
final class SSHAgentIncoming {
    /// The longest message of OpenSSH's agent.
    private static let longest = 256 << 10
    /// Memory grows with what arrives: of the lengths that clients only announce, secret memory would soon be used up.
    private static let firstStep = 4 << 10

    enum State {
        case incomplete
        case complete(SecretBytes)
        /// The client has ended the connection, or sends no messages.
        case over
    }

    private var length = SecretBuffer(capacity: 4)
    private var message: SecretBuffer?
    private var announced = 0

    /// The bytes that are reserved for the message.
    var reserved: Int { message?.capacity ?? 0 }

    /// Reads once from a descriptor that has something to read, and never beyond the message.
    func read(from descriptor: Int32) -> State {
        let buffer = message ?? length
        let count = buffer.read(from: descriptor)
        guard count > 0 else { return count < 0 && [EINTR, EAGAIN].contains(errno) ? .incomplete : .over }
        guard buffer.count == buffer.capacity else { return .incomplete }
        if message == nil { return begin() }
        if buffer.count == announced { return finished(buffer) }
        message = SecretBuffer(capacity: min(2 * buffer.capacity, announced), moving: buffer)
        return .incomplete
    }

    private func begin() -> State {
        announced = (0..<4).reduce(0) { $0 << 8 | Int(length[$1]) }
        guard (1...Self.longest).contains(announced) else { return .over }
        message = SecretBuffer(capacity: min(announced, Self.firstStep))
        return .incomplete
    }

    private func finished(_ buffer: SecretBuffer) -> State {
        length.removeFirst(length.count)
        message = nil
        return buffer.secret(in: 0..<buffer.count).map { .complete($0) } ?? .over
    }
}
