// SPDX-License-Identifier: Apache-2.0
// What is no etcd, or an etcd of somebody else: each answer ends with a sentence, in bounded time and memory.

#if Etcd
    import Foundation
    import KeychainEngine
    import KeychainSync
    import KeychainTestSupport
    import SecretMemory
    import Testing

    @testable import KeychainSyncCore
    @testable import KeychainSyncEtcd

    @Suite(.timeLimit(.minutes(60)))
    struct HostileServerTests {
        private static let ring = RingID(Data(repeating: 7, count: 32))

        private static func carrier(
            _ server: HostileServer, _ timing: EtcdTiming = HostileServer.timing
        ) throws -> any Carrier {
            try EtcdKind(timing).carrier(of: ring, at: server.place())
        }

        private static func failure(_ carrier: any Carrier) async -> CarrierFailure? {
            do { _ = try await carrier.list() } catch { return error }
            return nil
        }

        /// A machine that took this for somebody else's object would start again as another writer.
        @Test func serverThatStoresNothing_isUnavailable() async throws {
            let server = try HostileServer { $0.answer("{\"header\":{\"revision\":\"1\"}}") }
            let carrier = try Self.carrier(server)
            for name in [ObjectName.segment(WriterID(5), 1), .head(MemberID(Data(repeating: 3, count: 16)), 1)] {
                let failure = await #expect(throws: CarrierFailure.self) {
                    _ = try await carrier.publish(name, Data("x".utf8))
                }
                #expect(failure?.reason == .unavailable)
            }
        }

        struct Answer: Sendable, CustomTestStringConvertible {
            let testDescription: String
            let send: @Sendable (HostileServer.Connection) -> Void

            init(_ name: String, _ send: @escaping @Sendable (HostileServer.Connection) -> Void) {
                (testDescription, self.send) = (name, send)
            }
        }

        private static let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

        static let answers = [
            Answer("HTML") { $0.answer("<html><body>secret</body></html>", type: "text/html") },
            Answer("HTML of an error") { $0.answer("<html>secret</html>", status: "502 Bad Gateway") },
            Answer("a redirect") {
                $0.send("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n")
            },
            Answer("nothing") { $0.answer("") },
            Answer("other JSON") { $0.answer("{\"secret\":[1,2,3]}") },
            Answer("an answer without a header") { $0.answer("{\"kvs\":[]}") },
            Answer("a revision that no etcd gets to") {
                $0.answer("{\"header\":{\"revision\":\"18446744073709551615\"}}")
            },
            Answer("a revision that is no number") { $0.answer("{\"header\":{\"revision\":\"-1\"}}") },
            Answer("Base64 that is none") {
                $0.answer("{\"header\":{\"revision\":\"1\"},\"kvs\":[{\"key\":\"secret!\"}]}")
            },
            Answer("an error of unknown kind") {
                $0.answer("{\"code\":99,\"message\":\"secret\\u001b[2J\"}", status: "500 No")
            },
            Answer("deep JSON") { $0.answer(String(repeating: "[", count: 1 << 20)) },
            Answer("a million values") { $0.answer("[0" + String(repeating: ",0", count: 1 << 20) + "]") },
            Answer("a body of a GiB") { connection in
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n")
                connection.awaitEnd()
            },
            Answer("slow bytes") { connection in
                connection.send(chunked)
                while connection.send("1\r\n \r\n") { usleep(20_000) }
            },
            Answer("a header that does not end") { connection in
                connection.send("HTTP/1.1 200 OK\r\nX: ")
                let piece = Data(repeating: UInt8(ascii: "x"), count: 65_536)
                while connection.send(piece) {}
            },
            Answer("no HTTP") { $0.send("SSH-2.0-OpenSSH_9.2\r\n") },
            Answer("silence") { $0.awaitEnd() },
            Answer("keys that do not go on") {
                $0.answer("{\"header\":{\"revision\":\"1\"},\"kvs\":[{\"key\":\"YQ==\"}],\"more\":true}")
            },
            Answer("pages that have nothing") { $0.answer("{\"header\":{\"revision\":\"1\"},\"more\":true}") },
        ]

        @Test(arguments: answers)
        func answerOfNoEtcd_isUnavailableAndNamesTheAddress(_ answer: Answer) async throws {
            let server = try HostileServer(answer.send)
            let failure = try #require(await Self.failure(Self.carrier(server)))
            #expect(failure.reason == .unavailable)
            #expect(failure.message.contains("http://127.0.0.1:\(server.port)"))
            #expect(!failure.message.contains("secret"))
        }

        /// The first try may have been carried out, so the refusal of the second one says nothing.
        @Test func confirmedPublication_whoseFirstAnswerIsLost_isUnknownThoughTheNextIsARefusal() async throws {
            let count = Guarded(0)
            let server = try HostileServer { connection in
                let isFirst = count.withLock { count in
                    count += 1
                    return count == 1
                }
                if isFirst { return connection.end() }
                connection.answer("{\"code\":7,\"message\":\"etcdserver: permission denied\"}", status: "403 Forbidden")
            }
            let carrier = try #require(try Self.carrier(server, HostileServer.patience) as? any ConfirmingCarrier)
            let outcome = try await carrier.publish(.segment(WriterID(5), 1), Data("x".utf8), ifUnchangedSince: 1)
            #expect(outcome == .unknown)
            #expect(count.withLock { $0 } > 1)
        }

        @Test func bodyThatDoesNotEnd_isNotReadOn() async throws {
            let sent = Guarded(0)
            let server = try HostileServer { connection in
                let piece =
                    Data("100000\r\n".utf8) + Data(repeating: UInt8(ascii: " "), count: 1 << 20) + Data("\r\n".utf8)
                connection.send(Self.chunked)
                while connection.send(piece) { sent.withLock { $0 += 1 } }
            }
            let failure = await Self.failure(try Self.carrier(server))
            #expect(failure?.reason == .unavailable)
            // In MiB. What is on its way is in the buffers of both sides.
            #expect(sent.withLock { $0 } < 3 * 64)
        }

        @Test func redirect_isNotFollowed() async throws {
            let asked = Guarded(0)
            let other = try HostileServer { connection in
                asked.withLock { $0 += 1 }
                connection.answer("{\"header\":{\"revision\":\"1\"}}")
            }
            let server = try HostileServer { connection in
                connection.send(
                    "HTTP/1.1 307 Moved\r\nLocation: http://127.0.0.1:\(other.port)/v3/kv/range\r\nContent-Length: 0\r\n\r\n"
                )
            }
            #expect(await Self.failure(try Self.carrier(server))?.reason == .unavailable)
            #expect(asked.withLock { $0 } == 0)
        }

        @Test func lineThatDoesNotEnd_endsTheWatch() async throws {
            let watches = Guarded(0)
            let server = try HostileServer { connection in
                watches.withLock { $0 += 1 }
                connection.send(Self.chunked)
                let piece =
                    Data("10000\r\n".utf8) + Data(repeating: UInt8(ascii: "x"), count: 65_536) + Data("\r\n".utf8)
                while connection.send(piece) {}
            }
            let carrier = try Self.carrier(server)
            let watch = Task { for await _ in carrier.changes() {} }
            try await yieldUntil("the watch is opened again") { watches.withLock { $0 } > 2 }
            watch.cancel()
            await watch.value
        }

        /// A listing whose first page is compacted before the second begins again.
        @Test func listing_whoseRevisionIsCompacted_beginsAgain() async throws {
            let key = EtcdKeys("/", Self.ring).key(EtcdKey(.segment(WriterID(5), 9), Data("x".utf8)))
                .base64EncodedString()
            let asked = Guarded(0)
            let server = try HostileServer { connection in
                let count = asked.withLock { count in
                    count += 1
                    return count
                }
                let page = "{\"header\":{\"revision\":\"9\"},\"kvs\":[{\"key\":\"\(key)\"}]"
                switch count {
                case 1: connection.answer(page + ",\"more\":true}")
                case 2:
                    connection.answer(
                        "{\"code\":11,\"message\":\"etcdserver: mvcc: required revision has been compacted\"}",
                        status: "400 Bad Request")
                default: connection.answer(page + "}")
                }
            }
            let listing = try await Self.carrier(server, HostileServer.patience).list()
            #expect(listing.names == [.segment(WriterID(5), 9)])
            #expect(listing.revision == 9)
            #expect(asked.withLock { $0 } == 3)
        }

        @Test func revisionThatIsLowerInBetween_isReportedWithTheNextListing() async throws {
            let asked = Guarded(0)
            let server = try HostileServer { connection in
                let count = asked.withLock { count in
                    count += 1
                    return count
                }
                let revisions = [100, 7, 100, 100]
                connection.answer("{\"header\":{\"revision\":\"\(revisions[min(count, 4) - 1])\"}}")
            }
            let carrier = try Self.carrier(server, HostileServer.patience)
            #expect(try await carrier.list().revision == 100)
            try await carrier.remove([.segment(WriterID(5), 9)])
            #expect(try await carrier.list().revision == 7)
            #expect(try await carrier.list().revision == 100)
        }

        @Test func nodeThatIsNone_isPassedOverForTheNext() async throws {
            let server = try HostileServer { $0.answer("{\"header\":{\"revision\":\"3\"}}") }
            let closed = try Etcd.freePort()
            let place = EtcdPlace(
                endpoints: try EtcdPlace.endpoints("http://127.0.0.1:\(closed),http://127.0.0.1:\(server.port)"))
            let carrier = try EtcdKind(HostileServer.patience).carrier(of: Self.ring, at: place.place)
            #expect(try await carrier.list().revision == 3)
        }

        @Test func nobodyThere_isSaid() async throws {
            let place = EtcdPlace(endpoints: try EtcdPlace.endpoints("http://127.0.0.1:\(try Etcd.freePort())"))
            let carrier = try EtcdKind(Etcd.timing).carrier(of: Self.ring, at: place.place)
            let failure = await Self.failure(carrier)
            #expect(failure?.reason == .unavailable)
            #expect(failure?.message.contains("accepts no connections") == true)
        }

        /// A machine that is busy must not be taken for one that runs no etcd: three such answers would end the call.
        @Test func serverThatBeginsNoTLS_isTriedAgain_andWasSentNothing() async throws {
            let server = try HostileServer { $0.awaitEnd() }
            var timing = HostileServer.patience
            timing.whole = .milliseconds(1)
            let place = EtcdPlace(endpoints: try EtcdPlace.endpoints("https://127.0.0.1:\(server.port)"))
            let client = EtcdClient(place, timing)
            let request = RangeRequest(EtcdKeys("/").all, limit: 1, keysOnly: true)
            let error = await #expect(throws: EtcdFailure.self) {
                let _: RangeAnswer = try await client.call("kv/range", request)
            }
            #expect(error?.cause == .unconnected)
            #expect(error?.mayBeDone == false)
            #expect(error?.failure.message.contains("does not answer, or has no leader") == true)
        }

        @Test func filesThatAreMissing_areNamed() async throws {
            var place = EtcdPlace(endpoints: try EtcdPlace.endpoints("https://127.0.0.1:1"))
            place.authorities = "/nowhere/ca.pem"
            let failure = await Self.failure(try EtcdKind(HostileServer.timing).carrier(of: Self.ring, at: place.place))
            #expect(failure?.reason == .unusable)
            #expect(failure?.message.contains("/nowhere/ca.pem") == true)
        }
    }
#endif
