// SPDX-License-Identifier: Apache-2.0
// What etcd's JSON gateway answers. Nothing of it is believed: the core checks every object.

import Foundation
import KeychainSyncCore

/// An answer that names the revision of the whole etcd.
protocol EtcdAnswer: Decodable, Sendable {
    var header: AnswerHeader? { get }
}

struct AnswerHeader: Decodable, Sendable { let revision: WholeNumber }

/// A number of 64 bits, which the gateway writes as a string. An etcd never gets to larger ones than ``Bounds/number``.
struct WholeNumber: Decodable, Sendable {
    let value: UInt64

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try? container.decode(String.self)
        guard let value = try text.map({ UInt64($0) }) ?? container.decode(UInt64.self), value <= Bounds.number else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no number")
        }
        self.value = value
    }
}

struct RangeAnswer: EtcdAnswer {
    struct Pair: Decodable, Sendable {
        let key: Data
        /// Absent if it is empty, or was not asked for.
        let value: Data?
        let modified: WholeNumber?

        private enum CodingKeys: String, CodingKey {
            case key, value
            case modified = "mod_revision"
        }
    }

    let header: AnswerHeader?
    let pairs: [Pair]?
    let more: Bool?
    /// Of all keys in the range, also of those that were not asked for. Absent if it is none.
    let count: WholeNumber?

    private enum CodingKeys: String, CodingKey {
        case header, more, count
        case pairs = "kvs"
    }
}

struct TransactionAnswer: EtcdAnswer {
    struct Response: Decodable, Sendable {
        let range: RangeAnswer?

        private enum CodingKeys: String, CodingKey { case range = "response_range" }
    }

    let header: AnswerHeader?
    /// Absent if it is false.
    let succeeded: Bool?
    let responses: [Response]?

    /// The pairs of the operation with this number; none if it was no range.
    func pairs(_ index: Int) -> [RangeAnswer.Pair] {
        guard let responses, responses.indices.contains(index) else { return [] }
        return responses[index].range?.pairs ?? []
    }
}

struct TokenAnswer: EtcdAnswer {
    let header: AnswerHeader?
    let token: String
}

/// One line of a watch.
struct WatchLine: Decodable, Sendable {
    struct Result: Decodable, Sendable {
        struct Event: Decodable, Sendable {}

        let header: AnswerHeader?
        let created: Bool?
        let canceled: Bool?
        let reason: String?
        let compacted: WholeNumber?
        let events: [Event]?

        private enum CodingKeys: String, CodingKey {
            case header, created, canceled, events
            case reason = "cancel_reason"
            case compacted = "compact_revision"
        }
    }

    let result: Result?
    let error: ErrorAnswer?
}

/// Why etcd refuses something. The texts are its own, and may contain anything: they are compared, and never shown.
struct ErrorAnswer: Decodable, Sendable {
    let code: Int?
    /// In the lines of a watch.
    let streamCode: Int?
    let message: String?

    private enum CodingKeys: String, CodingKey {
        case code, message
        case streamCode = "grpc_code"
    }

    var refusal: EtcdRefusal? { (code ?? streamCode).map { EtcdRefusal($0, message ?? "") } }
}

enum EtcdRefusal: Error, Hashable {
    /// No leader, a leader that has just changed, too many requests.
    case unavailable
    case invalidToken
    case wrongPassword
    case userMissing
    case withoutUsers
    case denied
    case compacted
    case futureRevision
    case full
    case tooLarge
    case other(Int)

    /// Whether the request may have been carried out all the same. What a full etcd has made can be looked up.
    var mayBeDone: Bool {
        switch self {
        case .unavailable: true
        // gRPC's codes for a request that is wrong, out of place, out of range, or not supported tell that nothing was done.
        case .other(let code): ![3, 9, 11, 12].contains(code)
        default: false
        }
    }

    /// - Parameter code: One of gRPC's.
    init(_ code: Int, _ message: String) {
        func says(_ words: String) -> Bool { message.utf8.has(words.utf8) }
        switch code {
        case 7: self = .denied
        case 16: self = says("invalid user ID or password") ? .wrongPassword : .invalidToken
        case 3 where says("invalid user ID or password"): self = .wrongPassword
        case 3 where says("user name is empty"): self = .userMissing
        case 3 where says("auth store is old"): self = .invalidToken
        case 3 where says("request is too large"), 8 where says("message larger"): self = .tooLarge
        case 8 where says("space exceeded"): self = .full
        case 9 where says("authentication is not enabled"): self = .withoutUsers
        case 11 where says("compacted"): self = .compacted
        case 11 where says("future revision"): self = .futureRevision
        case 1, 4, 8, 14: self = .unavailable
        default: self = .other(code)
        }
    }

    /// - Parameter reason: That of a watch that was cancelled.
    init(cancelled reason: String) {
        func says(_ words: String) -> Bool { reason.utf8.has(words.utf8) }
        if says("permission denied") {
            self = .denied
        } else if says("auth token") || says("auth store is old") {
            self = .invalidToken
        } else if says("user name is empty") {
            self = .userMissing
        } else {
            self = .unavailable
        }
    }
}

extension Sequence<UInt8> {
    fileprivate func has(_ words: some Sequence<UInt8>) -> Bool {
        let (text, words) = (Array(self), Array(words))
        guard words.count <= text.count else { return false }
        return (0...text.count - words.count).contains { text[$0...].starts(with: words) }
    }
}

/// Decodes what passes the bounds.
enum EtcdJSON {
    static func decode<Answer: Decodable>(_ type: Answer.Type, _ bytes: Data) -> Answer? {
        guard JSONBounds.hold(bytes) else { return nil }
        do { return try JSONDecoder().decode(type, from: bytes) } catch { return nil }
    }
}
