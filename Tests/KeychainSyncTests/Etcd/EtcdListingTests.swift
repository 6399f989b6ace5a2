// SPDX-License-Identifier: Apache-2.0
// Listings of an etcd that ask only for what was written since the last one.

#if Etcd
    import Foundation
    import KeychainSync
    import KeychainTestSupport
    import SecretMemory
    import SyncSimulation
    import Testing

    @testable import KeychainSyncCore
    @testable import KeychainSyncEtcd

    struct EtcdListingTests {
        private static let ring = RingID(Data(repeating: 7, count: 32))

        private static func name(_ number: UInt64) -> ObjectName { .segment(WriterID(5), number) }

        @Suite(.enabled(if: Etcd.isInstalled, Etcd.isMissing), .serialized)
        struct Server {
            private let node: EtcdNode
            private let carrier: any Carrier

            init() throws {
                node = try EtcdNode.started()
                carrier = try EtcdKind(Etcd.timing).carrier(of: ring, at: node.place())
            }

            /// Beside a carrier that remembers nothing.
            private func expectSameListing(_ step: Comment) async throws {
                let other = try EtcdKind(Etcd.timing).carrier(of: ring, at: node.place())
                let (listing, whole) = (try await carrier.list(), try await other.list())
                #expect(listing.names == whole.names, step)
                #expect(listing.contents == whole.contents, step)
                #expect(listing.revision == whole.revision, step)
            }

            @Test func listing_afterAnyChange_isThatOfACarrierWithoutMemory() async throws {
                var random = SeededRandom(seed: 1)
                for step in 0..<60 {
                    let number = UInt64.random(in: 1...12, using: &random)
                    switch Int.random(in: 0..<5, using: &random) {
                    case 0, 1: _ = try await carrier.publish(name(number), Data("\(step)".utf8), beside: true)
                    case 2: try await carrier.remove([name(number)])
                    case 3: try node.done("put", EtcdKeys("/", ring).root + "foreign-\(number)", "x")
                    default:
                        // One is removed and another one is made, so that there are as many as before.
                        try await carrier.remove([name(number)])
                        _ = try await carrier.publish(name(number + 12), Data("\(step)".utf8), beside: true)
                    }
                    try await expectSameListing("step \(step)")
                }
            }

            /// Attack, or accident: the restored etcd has as many keys, and the new one was written at a revision that is known.
            @Test func etcd_restoredAndWrittenToSince_isListedAnew() async throws {
                let folder = try TemporaryFolder("etcd-listing")
                for number in 1...3 { _ = try await carrier.publish(name(UInt64(number)), Data("x".utf8)) }
                try node.done("snapshot", "save", folder.path + "/snapshot.db")
                _ = try await carrier.publish(name(4), Data("lost".utf8))
                _ = try await carrier.list()
                try node.restore(folder.path + "/snapshot.db")
                let other = try EtcdKind(Etcd.timing).carrier(of: ring, at: node.place())
                _ = try await other.publish(name(5), Data("new".utf8))
                let listing = try await carrier.list()
                #expect(listing.names == Set([1, 2, 3, 5].map { name($0) }))
            }
        }

        // MARK: - What is asked

        /// A server with two keys, of which the second one is written later.
        private struct Answers {
            let keys = EtcdKeys("/", ring)
            var count = 2

            private func pair(_ number: UInt64, _ revision: Int) -> String {
                let key = keys.key(EtcdKey(name(number), Data("x".utf8))).base64EncodedString()
                return "{\"key\":\"\(key)\",\"mod_revision\":\"\(revision)\"}"
            }

            func send(_ connection: HostileServer.Connection) {
                if connection.request.path.hasSuffix("kv/range") {
                    connection.answer(
                        "{\"header\":{\"revision\":\"7\"},\"kvs\":[\(pair(1, 7))],\"count\":\"1\"}")
                } else {
                    connection.answer(
                        "{\"header\":{\"revision\":\"9\"},\"succeeded\":true,\"responses\":[{\"response_range\":"
                            + "{\"kvs\":[\(pair(2, 9))],\"count\":\"\(count)\"}}]}")
                }
            }
        }

        private static func requests(
            _ answers: Answers, timing: EtcdTiming = HostileServer.patience
        ) async throws -> (Listing, [(path: String, body: String)]) {
            let requests = Guarded<[(path: String, body: String)]>([])
            let server = try HostileServer { connection in
                requests.withLock { $0.append(connection.request) }
                answers.send(connection)
            }
            let carrier = try EtcdKind(timing).carrier(of: ring, at: server.place())
            _ = try await carrier.list()
            return (try await carrier.list(), requests.withLock { $0 })
        }

        @Test func secondListing_asksOnlyForWhatWasWrittenSince() async throws {
            let (listing, requests) = try await Self.requests(Answers())
            #expect(listing.names == [Self.name(1), Self.name(2)])
            #expect(listing.revision == 9)
            #expect(requests.map(\.path) == ["/v3/kv/range", "/v3/kv/txn"])
            #expect(requests.last?.body.contains("\"min_mod_revision\":\"8\"") == true)
        }

        @Test func keysThatAreMissing_makeTheListingAskForAll() async throws {
            let (listing, requests) = try await Self.requests(Answers(count: 1))
            #expect(listing.names == [Self.name(1)])
            #expect(requests.map(\.path) == ["/v3/kv/range", "/v3/kv/txn", "/v3/kv/range"])
        }

        @Test func listing_afterALongTime_asksForAll() async throws {
            var timing = HostileServer.patience
            timing.listing = .zero
            let (listing, requests) = try await Self.requests(Answers(), timing: timing)
            #expect(listing.names == [Self.name(1)])
            #expect(requests.map(\.path) == ["/v3/kv/range", "/v3/kv/range"])
        }
    }
#endif
