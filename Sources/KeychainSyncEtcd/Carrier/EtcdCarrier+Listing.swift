// SPDX-License-Identifier: Apache-2.0
// Listing the objects of a ring in etcd: all of them, or those that were written since the last time.

#if Etcd
    import Foundation
    import KeychainSync
    import KeychainSyncCore
    import SecretMemory

    /// The keys of a ring as a listing has shown them.
    ///
    /// A ring of a thousand machines has some thousand keys. If each machine read all of them after each change, the change would
    /// cost a gigabyte.
    struct ListedKeys: Sendable {
        var revision: UInt64
        /// When all keys were read.
        let begin: ContinuousClock.Instant
        /// Of objects and of others.
        private(set) var keys: Set<Data> = []
        private(set) var names: Set<ObjectName> = []
        private(set) var contents: [ObjectName: Set<ListedContent>] = [:]
        /// The object that was written last.
        private(set) var newest: (key: Data, revision: UInt64)?

        mutating func add(_ pair: RangeAnswer.Pair, _ place: EtcdKeys) {
            keys.insert(pair.key)
            guard let object = place.object(pair.key) else { return }
            names.insert(object.name)
            contents[object.name, default: []].insert(object.content)
            let written = pair.modified?.value ?? 0
            if written > newest?.revision ?? 0 { newest = (pair.key, written) }
        }
    }

    extension EtcdCarrier {
        private static let mostKeys = 4 * Bounds.listing

        func list() async throws(CarrierFailure) -> Listing {
            for _ in 1..<Self.mostAttempts {
                do { return try await listing() } catch {
                    // Somebody has compacted the revision of the first page.
                    guard error.refusal == .compacted else { throw error.failure }
                }
            }
            do { return try await listing() } catch { throw error.failure }
        }

        private func listing() async throws(EtcdFailure) -> Listing {
            let known = listed.withLock { $0 }
            var next: ListedKeys?
            if let known { next = try await grown(known) }
            let new = if let next { next } else { try await everything() }
            guard new.names.count <= Bounds.listing, new.keys.count <= Self.mostKeys else { throw overcrowded }
            listed.withLock { $0 = new }
            return Listing(names: new.names, revision: client.reported(new.revision), contents: new.contents)
        }

        /// What is known, with the keys that were written since.
        ///
        /// The answer says how many keys there are in all, so one that was removed is noticed. An object is never written twice, so if
        /// the newest one was, or is not there any more, etcd may have been restored from a backup: then revisions mean something else.
        /// Whatever escapes this is found by the next listing of everything.
        ///
        /// - Returns: `nil` if everything has to be listed.
        private func grown(_ known: ListedKeys) async throws(EtcdFailure) -> ListedKeys? {
            guard let newest = known.newest, known.begin + timing.listing > .now else { return nil }
            let range = RangeRequest(keys.all, limit: page, keysOnly: true, since: known.revision + 1)
            var request = TransactionRequest(success: [.range(range)])
            request.compare = [.isUnchanged(newest.key, since: newest.revision)]
            let answer = try await transact(request, expecting: page * 512)
            guard answer.succeeded == true, let written = answer.responses?.first?.range, written.more != true,
                let revision = answer.header?.revision.value, revision >= known.revision
            else { return nil }
            var next = known
            next.revision = revision
            for pair in written.pairs ?? [] { next.add(pair, keys) }
            return written.count?.value == UInt64(next.keys.count) ? next : nil
        }

        private func everything() async throws(EtcdFailure) -> ListedKeys {
            var (rest, listed, count) = (keys.all, ListedKeys?.none, 0)
            while true {
                let request = RangeRequest(rest, limit: page, keysOnly: true, at: listed?.revision)
                let answer: RangeAnswer = try await client.call("kv/range", request, expecting: page * 512)
                let pairs = answer.pairs ?? []
                var next = listed ?? ListedKeys(revision: answer.header?.revision.value ?? 0, begin: .now)
                for pair in pairs { next.add(pair, keys) }
                count += pairs.count
                guard count <= Self.mostKeys else { throw overcrowded }
                guard answer.more == true else { return next }
                guard let last = pairs.last?.key, !last.lexicographicallyPrecedes(rest.first) else { throw disordered }
                (rest.first, listed) = (last + [0], next)
            }
        }

        private var disordered: EtcdFailure {
            EtcdFailure(
                CarrierFailure(
                    .unavailable, "'\(client.place.place.text)' lists keys as etcd never does. Is it an etcd?"))
        }

        private var overcrowded: EtcdFailure {
            EtcdFailure(
                CarrierFailure(
                    .overcrowded,
                    "'\(keys.root)' in etcd has more keys than a ring needs. Remove keys that do not belong to it."))
        }
    }
#endif
