// SPDX-License-Identifier: Apache-2.0
// What is sent to etcd's JSON gateway. Bytes are Base64, and numbers of 64 bits are strings.

import Foundation

struct RangeRequest: Encodable {
    var key: Data
    var end: Data?
    var limit: String?
    var revision: String?
    var keysOnly: Bool?
    var since: String?

    /// - Parameters:
    ///   - revision: As of which revision; `nil`: now.
    ///   - since: Only keys that were written at this revision or later.
    init(_ range: EtcdRange, limit: Int, keysOnly: Bool, at revision: UInt64? = nil, since: UInt64? = nil) {
        (key, end, self.limit) = (range.first, range.end, String(limit))
        (self.keysOnly, self.revision) = (keysOnly, revision.map { String($0) })
        self.since = since.map { String($0) }
    }

    /// One key with its value.
    init(_ key: Data) { self.key = key }

    private enum CodingKeys: String, CodingKey {
        case key, limit, revision
        case end = "range_end"
        case keysOnly = "keys_only"
        case since = "min_mod_revision"
    }
}

struct TransactionRequest: Encodable {
    struct Comparison: Encodable {
        private let key: Data
        private let end: Data?
        private let target: String
        private var result = "EQUAL"
        private let creation: String?
        private let modification: String?

        /// Holds if the range has no key.
        static func isEmpty(_ range: EtcdRange) -> Comparison {
            Comparison(key: range.first, end: range.end, target: "CREATE", creation: "0", modification: nil)
        }

        static func isMissing(_ key: Data) -> Comparison {
            Comparison(key: key, end: nil, target: "CREATE", creation: "0", modification: nil)
        }

        static func isUnchanged(_ key: Data, since revision: UInt64) -> Comparison {
            Comparison(key: key, end: nil, target: "MOD", creation: nil, modification: String(revision))
        }

        /// Holds if no key of the range was written after a revision. It may have none.
        static func isUnchanged(_ range: EtcdRange, since revision: UInt64) -> Comparison {
            var comparison = Comparison(
                key: range.first, end: range.end, target: "MOD", creation: nil, modification: String(revision + 1))
            comparison.result = "LESS"
            return comparison
        }

        private enum CodingKeys: String, CodingKey {
            case key, target, result
            case end = "range_end"
            case creation = "create_revision"
            case modification = "mod_revision"
        }
    }

    enum Operation: Encodable {
        case put(Data, Data)
        case range(RangeRequest)
        case delete(EtcdRange)

        private enum CodingKeys: String, CodingKey {
            case put = "requestPut"
            case range = "requestRange"
            case delete = "requestDeleteRange"
        }

        private struct Put: Encodable {
            let key: Data
            let value: Data
        }

        private struct Delete: Encodable {
            let key: Data
            let end: Data

            private enum CodingKeys: String, CodingKey {
                case key
                case end = "range_end"
            }
        }

        func encode(to encoder: any Encoder) throws {
            var object = encoder.container(keyedBy: CodingKeys.self)
            switch self {
            case .put(let key, let value): try object.encode(Put(key: key, value: value), forKey: .put)
            case .range(let request): try object.encode(request, forKey: .range)
            case .delete(let range): try object.encode(Delete(key: range.first, end: range.end), forKey: .delete)
            }
        }
    }

    var compare: [Comparison] = []
    var success: [Operation]
    var failure: [Operation] = []

    /// etcd allows 128 operations.
    static let mostOperations = 100
}

struct WatchRequest: Encodable {
    struct Create: Encodable {
        let key: Data
        let end: Data
        let id: String
        let start: String?
        /// Lines stay short.
        let fragment = true

        private enum CodingKeys: String, CodingKey {
            case key, fragment
            case end = "range_end"
            case id = "watch_id"
            case start = "start_revision"
        }
    }

    let create: Create

    init(_ range: EtcdRange, id: Int, from revision: UInt64?) {
        create = Create(key: range.first, end: range.end, id: String(id), start: revision.map { String($0) })
    }

    private enum CodingKeys: String, CodingKey { case create = "create_request" }
}

struct CredentialsRequest: Encodable {
    let name: String
    let password: String
}
