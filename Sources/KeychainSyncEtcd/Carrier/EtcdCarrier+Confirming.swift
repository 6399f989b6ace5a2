// SPDX-License-Identifier: Apache-2.0
// One transaction of etcd that publishes a segment if nobody else has written.

#if Etcd
    import Foundation
    import KeychainSync
    import KeychainSyncCore

    extension EtcdCarrier: ConfirmingCarrier {
        /// Compares the tips of all logs, which each segment moves, and the ring log: a few small keys, however much the ring holds.
        func publish(
            _ name: ObjectName, _ bytes: Data, ifUnchangedSince revision: UInt64
        ) async throws(CarrierFailure) -> ConfirmedPublication {
            let key = EtcdKey(name, bytes)
            var request = TransactionRequest(success: puts(key, bytes))
            request.compare = [
                .isUnchanged(keys.range(below: "t/"), since: revision),
                .isUnchanged(keys.range(below: "g/"), since: revision), .isEmpty(keys.range(of: name)),
            ]
            request.failure = [.range(RangeRequest(keys.key(key)))]
            do throws(EtcdFailure) {
                let answer = try await transact(request, expecting: bytes.count * 3 / 2)
                // An earlier try may have been carried out, and its answer lost.
                return answer.succeeded == true || isThere(key, bytes, answer.pairs(0)) ? .created : .changedSince
            } catch {
                if error.refusal == .full { return try await outcome(of: key, bytes, refusedWith: error) }
                guard error.mayBeDone || error.cause != nil else { throw error.failure }
                return .unknown
            }
        }

        /// Looks up a segment that a full etcd has refused. The node that gets full by a transaction makes it, and refuses it all the same.
        private func outcome(
            of key: EtcdKey, _ bytes: Data, refusedWith refusal: EtcdFailure
        ) async throws(CarrierFailure) -> ConfirmedPublication {
            let answer: RangeAnswer
            do throws(EtcdFailure) {
                answer = try await client.call("kv/range", RangeRequest(keys.key(key)), expecting: bytes.count * 3 / 2)
            } catch {
                return .unknown
            }
            if isThere(key, bytes, answer.pairs ?? []) { return .created }
            guard !refusal.mayBeDone else { return .unknown }
            throw refusal.failure
        }

        private func isThere(_ key: EtcdKey, _ bytes: Data, _ pairs: [RangeAnswer.Pair]) -> Bool {
            pairs.contains { $0.key == keys.key(key) && $0.value == bytes }
        }
    }
#endif
