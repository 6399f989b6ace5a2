// SPDX-License-Identifier: Apache-2.0
// What an etcd answers, or something in its place.

import Foundation

@testable import KeychainSyncEtcd

enum EtcdAnswers {
    /// As everything that an answer may be.
    static func answer(_ bytes: Data) {
        let isBounded = JSONBounds.hold(bytes)
        let range = EtcdJSON.decode(RangeAnswer.self, bytes)
        require(range == nil || isBounded, "nothing is decoded that is too large")
        for pair in range?.pairs ?? [] { key(pair.key) }
        for index in 0..<3 { _ = EtcdJSON.decode(TransactionAnswer.self, bytes)?.pairs(index) }
        _ = EtcdJSON.decode(TokenAnswer.self, bytes)
        _ = EtcdJSON.decode(ErrorAnswer.self, bytes)?.refusal
        if let line = EtcdJSON.decode(WatchLine.self, bytes) {
            _ = line.error?.refusal
            _ = line.result?.reason.map { EtcdRefusal(cancelled: $0) }
        }
    }

    private static func key(_ bytes: Data) {
        let keys = EtcdKeys("/")
        guard let object = keys.object(bytes) else { return }
        require(keys.key(object) == bytes, "a key has one spelling")
        let range = keys.range(of: object.name)
        require(!bytes.lexicographicallyPrecedes(range.first), "a key lies in the range of its name")
        require(bytes.lexicographicallyPrecedes(range.end), "a key lies in the range of its name")
    }
}
