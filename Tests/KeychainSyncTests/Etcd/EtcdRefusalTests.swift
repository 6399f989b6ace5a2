// SPDX-License-Identifier: Apache-2.0
// What became of a confirmed change that an etcd refuses.

#if Etcd
    import Foundation
    import SecretMemory
    import Testing

    @testable import KeychainSync
    @testable import KeychainSyncCore
    @testable import KeychainSyncEtcd

    @Suite(.timeLimit(.minutes(60)))
    struct EtcdRefusalTests {
        private static let ring = RingID(Data(repeating: 7, count: 32))
        private static let name = ObjectName.segment(WriterID(5), 1)
        private static let bytes = Data("an object".utf8)

        private static func publish(_ server: HostileServer, user: String? = nil) async throws -> ConfirmedPublication {
            let carrier = try EtcdKind(HostileServer.patience).carrier(of: ring, at: server.place(user: user))
            return try await #require(carrier as? any ConfirmingCarrier)
                .publish(name, bytes, ifUnchangedSince: 8)
        }

        // MARK: - An etcd without space

        private static let noSpace = "{\"code\":8,\"message\":\"etcdserver: mvcc: database space exceeded\"}"

        /// Refuses each transaction, and answers each question with what it has.
        private static func fullServer(_ found: String, status: String = "200 OK") throws -> HostileServer {
            try HostileServer { connection in
                if connection.request.path.hasSuffix("/kv/range") { return connection.answer(found, status: status) }
                connection.answer(Self.noSpace, status: "429 Too Many")
            }
        }

        private static func found(_ value: Data) -> String {
            let key = EtcdKeys("/", ring).key(EtcdKey(name, bytes)).base64EncodedString()
            let pair = "{\"key\":\"\(key)\",\"value\":\"\(value.base64EncodedString())\"}"
            return "{\"header\":{\"revision\":\"9\"},\"kvs\":[\(pair)],\"count\":\"1\"}"
        }

        /// The node that gets full by a transaction refuses it, and makes it all the same.
        @Test func change_thatAFullEtcdHasMade_isCreated() async throws {
            let server = try Self.fullServer(Self.found(Self.bytes))
            #expect(try await Self.publish(server) == .created)
        }

        static let others = ["{\"header\":{\"revision\":\"9\"}}", found(Data("another".utf8))]

        @Test(arguments: others)
        func change_thatAFullEtcdDoesNotHave_isRefused(_ answer: String) async throws {
            let server = try Self.fullServer(answer)
            let failure = await #expect(throws: CarrierFailure.self) { _ = try await Self.publish(server) }
            #expect(failure?.reason == .full)
        }

        @Test func change_ofWhichAFullEtcdDoesNotTell_isUnknown() async throws {
            let server = try Self.fullServer("{\"code\":7,\"message\":\"permission denied\"}", status: "403 Forbidden")
            #expect(try await Self.publish(server) == .unknown)
        }

        /// The first try may still be made, so what the etcd has now says nothing.
        @Test func change_whoseFirstAnswerIsLost_isUnknownThoughAFullEtcdDoesNotHaveIt() async throws {
            let count = Guarded(0)
            let server = try HostileServer { connection in
                if connection.request.path.hasSuffix("/kv/range") { return connection.answer(Self.others[0]) }
                let isFirst = count.withLock { count in
                    count += 1
                    return count == 1
                }
                if isFirst { return connection.end() }
                connection.answer(Self.noSpace, status: "429 Too Many")
            }
            #expect(try await Self.publish(server) == .unknown)
        }

        // MARK: - Other errors

        private static func server(_ code: Int) throws -> HostileServer {
            try HostileServer { $0.answer("{\"code\":\(code),\"message\":\"\"}", status: "500 No") }
        }

        /// gRPC's codes for an unknown error, an aborted call, an internal error and a loss of data.
        @Test(arguments: [2, 10, 13, 15])
        func change_thatEndsWithAnErrorOfTheServer_isUnknown(_ code: Int) async throws {
            #expect(try await Self.publish(try Self.server(code)) == .unknown)
        }

        /// Before the change is sent, the user is logged in.
        @Test(arguments: [2, 13])
        func change_beforeWhichTheLoginFails_isRefused(_ code: Int) async throws {
            let server = try Self.server(code)
            await #expect(throws: CarrierFailure.self) { _ = try await Self.publish(server, user: "alice") }
        }

        /// Those for a request that is wrong, out of place, out of range, or not supported.
        @Test(arguments: [3, 9, 11, 12])
        func change_thatIsNoRequestForTheServer_isRefused(_ code: Int) async throws {
            let server = try Self.server(code)
            await #expect(throws: CarrierFailure.self) { _ = try await Self.publish(server) }
        }
    }
#endif
