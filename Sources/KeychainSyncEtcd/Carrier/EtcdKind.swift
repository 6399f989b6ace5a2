// SPDX-License-Identifier: Apache-2.0
// Etcd as a kind of carrier.

#if Etcd
    import Foundation
    package import KeychainSync
    package import KeychainSyncCore
    import SecretMemory

    /// The kind for programs with the trait `Etcd`.
    ///
    /// ```swift
    /// let member = RingMember(vault, kinds: [EtcdKind()])
    /// ```
    package final class EtcdKind: CarrierKind {
        package let scheme = EtcdPlace.scheme
        private let timing: EtcdTiming
        /// Tokens, and revisions that were seen, outlast a carrier.
        private let clients = Guarded<[CarrierPlace: EtcdClient]>([:])
        /// What the last listing of each ring has shown, which outlasts a carrier too.
        private let listings = Guarded<[RingAtPlace: Guarded<ListedKeys?>]>([:])
        private static let mostClients = 16

        private struct RingAtPlace: Hashable {
            let ring: RingID
            let place: CarrierPlace
        }

        package convenience init() { self.init(EtcdTiming()) }

        init(_ timing: EtcdTiming) { self.timing = timing }

        package func carrier(of ring: RingID, at place: CarrierPlace) throws(CarrierFailure) -> any Carrier {
            EtcdCarrier(try client(place), ring, timing, after: listing(RingAtPlace(ring: ring, place: place)))
        }

        private func listing(_ ring: RingAtPlace) -> Guarded<ListedKeys?> {
            listings.withLock { listings in
                if let known = listings[ring] { return known }
                if listings.count >= Self.mostClients { listings = [:] }
                let new = Guarded<ListedKeys?>(nil)
                listings[ring] = new
                return new
            }
        }

        func client(_ place: CarrierPlace) throws(CarrierFailure) -> EtcdClient {
            if let known = clients.withLock({ $0[place] }) { return known }
            let client = EtcdClient(try EtcdPlace(place), timing)
            clients.withLock { clients in
                if clients.count >= Self.mostClients { clients = [:] }
                clients[place] = client
            }
            return client
        }

        /// Asks for the first key of each ring, since a ring may have many.
        package func rings(at place: CarrierPlace) async throws(CarrierFailure) -> [RingID] {
            let client = try client(place)
            let keys = EtcdKeys(client.place.prefix)
            var (rest, rings): (EtcdRange, [RingID]) = (keys.all, [])
            for _ in 0..<Self.mostRings {
                let answer: RangeAnswer
                do {
                    answer = try await client.call("kv/range", RangeRequest(rest, limit: 1, keysOnly: true))
                } catch {
                    throw error.failure
                }
                guard let key = answer.pairs?.first?.key, !key.lexicographicallyPrecedes(rest.first) else {
                    return rings
                }
                let ring = keys.suffix(of: key)?.utf8.split(separator: UInt8(ascii: "/")).first
                    .flatMap { Self.ring(String(Substring($0))) }
                if let ring { rings.append(ring) }
                rest.first = ring.map { EtcdKeys(client.place.prefix, $0).all.end } ?? key + [0]
            }
            throw CarrierFailure(
                .overcrowded, "'\(keys.root)' in etcd has too many rings. Give each its own prefix with --etcd-prefix.")
        }

        private static let mostRings = 4096

        private static func ring(_ text: String) -> RingID? {
            guard case .entry(let hash) = ObjectName("g/" + text) else { return nil }
            return hash
        }
    }
#endif
