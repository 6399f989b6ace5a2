// SPDX-License-Identifier: Apache-2.0
// An etcd as a carrier.

#if Etcd
    import Foundation
    import KeychainSync
    import KeychainSyncCore
    import SecretMemory

    /// Stores objects as keys of an etcd, under `skc1/` and the ring.
    ///
    /// Each object is one key, which is created if it is absent and never changed unless it is damaged. Nothing depends on the
    /// history of etcd, which any of its users may compact.
    ///
    /// Does not protect against an attacker who can write to etcd. The core detects what was changed or withheld.
    final class EtcdCarrier: Carrier {
        let client: EtcdClient
        let keys: EtcdKeys
        let timing: EtcdTiming
        /// Keys of one page of a listing.
        let page: Int
        /// What the last listing has shown.
        let listed: Guarded<ListedKeys?>

        /// Objects of one name. A ring needs one; a second one tells that a machine was copied.
        private static let mostOfOneName = 64
        /// Bytes that are asked for at once.
        private static let mostBytes = 8 << 20
        /// How often to try again when another machine, or a compaction, was faster.
        static let mostAttempts = 4

        init(
            _ client: EtcdClient, _ ring: RingID, _ timing: EtcdTiming = EtcdTiming(), page: Int = 4096,
            after listed: Guarded<ListedKeys?> = Guarded(nil)
        ) {
            (self.client, keys) = (client, EtcdKeys(client.place.prefix, ring))
            (self.timing, self.page, self.listed) = (timing, page, listed)
        }

        // MARK: - Reading

        /// Reads at most about 64 MiB; the rest is asked for again.
        func read(_ names: [ObjectName]) async throws(CarrierFailure) -> CarrierReading {
            var reading = CarrierReading()
            do throws(EtcdFailure) {
                var found: [EtcdKey] = []
                for names in names.chunks(of: TransactionRequest.mostOperations) { found += try await present(names) }
                var whole: [(key: EtcdKey, bytes: Data)] = []
                let batches = batches(found)
                for batch in batches { whole += try await values(batch) }
                reading.objects = whole.map { ($0.key.name, $0.bytes) }
                let looked = Set(batches.joined().map(\.name))
                reading.damaged = looked.subtracting(whole.map(\.key.name)).sorted()
            } catch {
                throw error.failure
            }
            return reading
        }

        /// The keys of all objects of the names.
        private func present(_ names: [ObjectName]) async throws(EtcdFailure) -> [EtcdKey] {
            let ranges = names.map { name in
                TransactionRequest.Operation.range(
                    RangeRequest(keys.range(of: name), limit: Self.mostOfOneName, keysOnly: true))
            }
            let answer = try await transact(TransactionRequest(success: ranges), expecting: names.count * 512)
            return names.indices.flatMap { index in
                answer.pairs(index).prefix(Self.mostOfOneName).compactMap { keys.object($0.key) }
                    .filter { $0.name == names[index] }
            }
        }

        /// So that an answer stays short, if keys do not lie about sizes.
        private func batches(_ found: [EtcdKey]) -> [[EtcdKey]] {
            var (batches, size, total): ([[EtcdKey]], Int, Int) = ([], Self.mostBytes, 0)
            for key in found where total < Bounds.waiting {
                total += key.content.size
                size += key.content.size
                if size > Self.mostBytes || batches.last?.count == TransactionRequest.mostOperations {
                    (batches, size) = (batches + [[]], key.content.size)
                }
                batches[batches.count - 1].append(key)
            }
            return batches
        }

        /// The objects that are what their keys say.
        private func values(_ batch: [EtcdKey]) async throws(EtcdFailure) -> [(key: EtcdKey, bytes: Data)] {
            let gets = batch.map { TransactionRequest.Operation.range(RangeRequest(keys.key($0))) }
            let size = batch.reduce(0) { $0 + $1.content.size } * 3 / 2
            let answer: TransactionAnswer
            do throws(EtcdFailure) {
                answer = try await transact(TransactionRequest(success: gets), expecting: size)
            } catch {
                guard error.isTooLarge else { throw error }
                // Some keys lie about the sizes of their values.
                guard batch.count > 1 else { return [] }
                var values: [(key: EtcdKey, bytes: Data)] = []
                for key in batch { values += try await self.values([key]) }
                return values
            }
            return batch.indices.compactMap { index in
                let pair = answer.pairs(index).first { $0.key == keys.key(batch[index]) }
                return pair?.value.flatMap { batch[index].isOf($0) ? (batch[index], $0) : nil }
            }
        }

        // MARK: - Publishing

        func publish(
            _ name: ObjectName, _ bytes: Data, beside isBeside: Bool
        ) async throws(CarrierFailure) -> Publication {
            guard bytes.count <= Bounds.object else {
                throw CarrierFailure(
                    .tooLarge, "An object has \(bytes.count) bytes, which is more than the maximum. Please report this."
                )
            }
            do {
                return try await place(EtcdKey(name, bytes), bytes, isBeside)
            } catch {
                throw error.failure
            }
        }

        private func place(_ key: EtcdKey, _ bytes: Data, _ isBeside: Bool) async throws(EtcdFailure) -> Publication {
            var isAlone = false
            if case .segment = key.name { isAlone = !isBeside }
            for _ in 0..<Self.mostAttempts {
                var request = TransactionRequest(success: puts(key, bytes))
                request.compare = [isAlone ? .isEmpty(keys.range(of: key.name)) : .isMissing(keys.key(key))]
                request.failure = [.range(RangeRequest(keys.key(key)))]
                let answer = try await transact(request, expecting: bytes.count * 3 / 2)
                if answer.succeeded == true { return .created }
                let present = answer.pairs(0).first { $0.key == keys.key(key) }
                if present?.value == bytes { return .alreadySame }
                if isAlone, try await hasOther(key) { return .otherThere }
                if let present {
                    // It is damaged.
                    let seen = present.modified?.value ?? 0
                    request.compare = [.isUnchanged(keys.key(key), since: seen)]
                    request.failure = []
                    if try await transact(request).succeeded == true { return .created }
                }
                isAlone = false
            }
            // Others were faster each time, or it only says so.
            throw EtcdFailure(
                CarrierFailure(
                    .unavailable,
                    "'\(client.place.place.text)' does not keep what is written there. The next exchange tries again."))
        }

        func puts(_ key: EtcdKey, _ bytes: Data) -> [TransactionRequest.Operation] {
            guard case .segment(let writer, let number) = key.name else { return [.put(keys.key(key), bytes)] }
            return [.put(keys.key(key), bytes), .put(keys.tip(writer), Data(String(number, radix: 16).utf8))]
        }

        /// Whether another object of the name lies there as a whole.
        private func hasOther(_ key: EtcdKey) async throws(EtcdFailure) -> Bool {
            for batch in batches(try await present([key.name]).filter { $0 != key }) {
                if try await !values(batch).isEmpty { return true }
            }
            return false
        }

        func remove(_ names: [ObjectName]) async throws(CarrierFailure) {
            for names in names.chunks(of: TransactionRequest.mostOperations) {
                let deletions = names.map { TransactionRequest.Operation.delete(keys.range(of: $0)) }
                do { _ = try await transact(TransactionRequest(success: deletions)) } catch { throw error.failure }
            }
        }

        func transact(
            _ request: TransactionRequest, expecting size: Int = 0
        ) async throws(EtcdFailure) -> TransactionAnswer {
            try await client.call("kv/txn", request, expecting: size)
        }
    }

    extension EtcdFailure {
        fileprivate var isTooLarge: Bool { cause == .tooLarge || refusal == .tooLarge }
    }

    extension Array {
        fileprivate func chunks(of size: Int) -> [[Element]] {
            stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]) }
        }
    }
#endif
