// SPDX-License-Identifier: Apache-2.0
// One conversation with a program that speaks Assuan: a command, and lines until "OK" or "ERR".

import Foundation
import KeychainEngine
import SecretMemory

/// The reply to one command.
enum AssuanReply {
    case ok(data: SecretBytes?, keywords: Set<String>)
    case error(code: Int)
    /// The program has ended or closed its side.
    case end
}

final class AssuanConnection {
    /// The maximum number of lines before the answer: a few are usual, an endless stream is not.
    private static let mostLines = 1000

    private let channel: Channel
    private let program: Program
    private let received = SecretBuffer(capacity: Assuan.longestLine)

    init(_ channel: Channel, _ program: Program) {
        self.channel = channel
        self.program = program
    }

    /// Sends a command and waits for its answer.
    ///
    /// - Parameter line: Without the line end; parameters are encoded.
    /// - Throws: `cancelled`, `timedOut`, `unavailable` if the answer is not Assuan.
    func exchange(_ line: String, _ waiting: Waiting) throws(KeychainError) -> AssuanReply {
        try send(line, waiting)
        return try reply(waiting)
    }

    /// A peer that no longer reads is detected when reading.
    func send(_ line: String, _ waiting: Waiting) throws(KeychainError) {
        var rest = Data((line + "\n").utf8)[...]
        #if canImport(Darwin)
            let flags: Int32 = 0
        #else
            let flags = Int32(MSG_NOSIGNAL)
        #endif
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.send(channel.ours, $0.baseAddress, $0.count, flags) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN || errno == EINTR {
                try waiting.wait(for: channel.ours, POLLOUT)
            } else {
                return
            }
        }
    }

    /// Reads lines up to the one that ends an answer.
    func reply(_ waiting: Waiting) throws(KeychainError) -> AssuanReply {
        let data = SecretBuffer(capacity: Assuan.longestData)
        // What was entered may be there from a register that was saved.
        defer { scrubStack() }
        var keywords: Set<String> = []
        for _ in 0..<Self.mostLines {
            guard let length = try nextLine(waiting) else { return .end }
            let line = AssuanLine(received, length: length)
            defer { received.removeFirst(length + 1) }
            switch line {
            case .ok: return .ok(data: data.secret(in: 0..<data.count), keywords: keywords)
            case .error(let code): return .error(code: code)
            case .status(let keyword): keywords.insert(keyword)
            case .comment: continue
            case .data(let range): guard Assuan.decode(received, range, into: data) else { throw garbage }
            case .garbage: throw garbage
            }
        }
        throw garbage
    }

    /// - Returns: The length of the line at the beginning of `received`; `nil` at the end.
    private func nextLine(_ waiting: Waiting) throws(KeychainError) -> Int? {
        while true {
            if let end = received.firstIndex(of: UInt8(ascii: "\n")) { return end }
            guard received.count < received.capacity else { throw garbage }
            try waiting.wait(for: channel.ours, POLLIN)
            let count = received.read(from: channel.ours)
            if count == 0 || count < 0 && errno != EAGAIN && errno != EINTR { return nil }
        }
    }

    private var garbage: KeychainError { program.unavailable("it does not answer like a pinentry program") }
}
