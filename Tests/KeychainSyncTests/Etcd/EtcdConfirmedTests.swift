// SPDX-License-Identifier: Apache-2.0
// Confirmed changes over real nodes of etcd.

#if Etcd
    import Foundation
    import KeychainEngine
    import KeychainKit
    import KeychainTestSupport
    import KeychainTesting
    import KeychainVault
    import SecretMemory
    import Testing

    @testable import KeychainSync
    @testable import KeychainSyncCore
    @testable import KeychainSyncEtcd

    @Suite(.enabled(if: Etcd.isInstalled, Etcd.isMissing), .serialized, .timeLimit(.minutes(60)))
    struct EtcdConfirmedTests {
        private let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder("etcd-confirmed") }

        private func pair(
            _ place: CarrierPlace, _ timing: EtcdTiming = Etcd.timing
        ) async throws -> (Machine, Machine) {
            // Each has its own kind, as each is another process.
            let (laptop, desktop) = (
                try Machine(folder.path, "laptop", kinds: [EtcdKind(timing)]),
                try Machine(folder.path, "desktop", kinds: [EtcdKind(timing)])
            )
            _ = try await laptop.member.found(name: "laptop", at: place)
            try await laptop.admit(desktop, at: place)
            return (laptop, desktop)
        }

        private func store(_ machine: Machine, keepsUnconfirmed: Bool = false) -> SecretStore {
            let confirming = machine.sync.confirming(within: .seconds(600), keepsUnconfirmed: keepsUnconfirmed)
            var store = SecretStore(service: "s", synchronizable: true, store: machine.vault).through(confirming)
            store.timeout = Timeout(operation: .seconds(900))
            return store
        }

        /// How many changes were made, and of how many that is not known.
        private struct Count: Equatable {
            var made = 0
            var undecided = 0
            /// Why changes were not made.
            var failures: [String] = []
        }

        private func count(_ store: SecretStore, _ times: Int) async throws -> Count {
            var count = Count()
            for _ in 0..<times {
                do {
                    try await store.update(Int.self, for: "count") { $0 = ($0 ?? 0) + 1 }
                    count.made += 1
                } catch let error as KeychainError {
                    #expect([.timedOut, .unavailable].contains(error.reason), "\(error)")
                    if error.reason == .timedOut { count.undecided += 1 }
                    count.failures.append(error.message)
                }
            }
            return count
        }

        private func shown(_ machines: Machine...) async throws -> [Int] {
            for _ in 0..<2 { for machine in machines { try await machine.exchange() } }
            return try await machines.asyncMap { machine in
                #expect(try await machine.member.status().conflicts == 0)
                return try await store(machine).read(Int.self, for: "count") ?? 0
            }
        }

        @Test func twoMachinesThatCount_loseNone() async throws {
            let node = try EtcdNode.started()
            let (laptop, desktop) = try await pair(node.place())
            async let one = count(store(laptop), 20)
            async let other = count(store(desktop), 20)
            #expect(try await one == Count(made: 20))
            #expect(try await other == Count(made: 20))
            #expect(try await shown(laptop, desktop) == [40, 40])
            let code = try await laptop.member.status().compareCode
            #expect(try await desktop.member.status().compareCode == code)
        }

        @Test func ordinaryChangesMeanwhile_areSeenBeforeTheCount() async throws {
            let node = try EtcdNode.started()
            let (laptop, desktop) = try await pair(node.place())
            async let counted = count(store(laptop), 10)
            for number in 10..<20 {
                try desktop.add("a\(number)", "v")
                try await desktop.exchange()
            }
            #expect(try await counted == Count(made: 10))
            #expect(try await shown(laptop, desktop) == [10, 10])
        }

        @Test func leaderThatIsKilled_losesNoCount() async throws {
            let cluster = try EtcdNodes()
            let (laptop, desktop) = try await pair(cluster.place(), Etcd.timingOfNodes)
            let leader = try cluster.leader()
            async let one = count(store(laptop), 10)
            async let other = count(store(desktop), 10)
            // While both count, or before: the outcome is the same.
            leader.signal(SIGKILL)
            let (first, second) = (try await one, try await other)
            let (made, undecided) = (first.made + second.made, first.undecided + second.undecided)
            let shown = try await shown(laptop, desktop)
            #expect(shown[0] == shown[1])
            #expect((made...made + undecided).contains(shown[0]))
            #expect(made > 0)
        }

        @Test func nodesWithoutAMajority_areUnavailable_andTheChangeStaysHere() async throws {
            let cluster = try EtcdNodes()
            let (laptop, desktop) = try await pair(cluster.place(), Etcd.timingOfNodes)
            for node in cluster.nodes.prefix(2) { node.signal(SIGSTOP) }
            let impatient = laptop.impatient
            let dropped = await #expect(throws: KeychainError.self) {
                try await store(impatient).save("1", for: "dropped")
            }
            #expect(dropped?.reason == .unavailable)
            let kept = await #expect(throws: KeychainError.self) {
                try await store(impatient, keepsUnconfirmed: true).save("1", for: "kept")
            }
            #expect(kept?.reason == .unavailable)
            #expect(try laptop.items() == ["kept=1"])
            for node in cluster.nodes.prefix(2) { node.signal(SIGCONT) }
            try await yieldUntil("there is a majority") {
                do { try await laptop.exchange() } catch { return false }
                return true
            }
            try await yieldUntil("the item arrives") {
                do { try await desktop.exchange() } catch { return false }
                return try desktop.items() == ["kept=1"]
            }
        }

        @Test func etcdThatIsGone_isUnavailable() async throws {
            let node = try EtcdNode.started()
            let (laptop, _) = try await pair(node.place())
            node.end()
            let error = await #expect(throws: KeychainError.self) { try await store(laptop).save("1", for: "a") }
            #expect(error?.reason == .unavailable)
            #expect(error?.message.contains(node.url) == true)
            #expect(try laptop.items().isEmpty)
        }

        @Test func etcdRestoredFromASnapshot_confirmsAgain() async throws {
            let node = try EtcdNode.started()
            let (laptop, desktop) = try await pair(node.place())
            let snapshot = folder.path + "/snapshot.db"
            try node.done("snapshot", "save", snapshot)
            #expect(try await count(store(laptop), 3) == Count(made: 3))
            try node.restore(snapshot)
            #expect(try await count(store(laptop), 2) == Count(made: 2))
            #expect(try await shown(laptop, desktop) == [5, 5])
        }

        // MARK: - The carrier

        private static let ring = RingID(Data(repeating: 7, count: 32))
        private static let name = ObjectName.segment(WriterID(5), 1)
        private static let bytes = Data("an object".utf8)

        private func carrier(_ node: EtcdNode) throws -> any ConfirmingCarrier {
            try #require(try EtcdKind(Etcd.timing).carrier(of: Self.ring, at: node.place()) as? any ConfirmingCarrier)
        }

        private func isConfirmed(
            _ carrier: any ConfirmingCarrier, after change: () async throws -> Void
        ) async throws -> ConfirmedPublication {
            let revision = try #require(try await carrier.list().revision)
            try await change()
            return try await carrier.publish(Self.name, Self.bytes, ifUnchangedSince: revision)
        }

        @Test func segment_ifNothingHasChanged_isCreatedOnce() async throws {
            let node = try EtcdNode.started()
            let carrier = try carrier(node)
            let revision = try #require(try await carrier.list().revision)
            for _ in 0..<2 {
                #expect(
                    try await carrier.publish(Self.name, Self.bytes, ifUnchangedSince: revision) == .created)
            }
            #expect(try await carrier.read([Self.name]).objects.map(\.bytes) == [Self.bytes])
        }

        @Test func segment_afterAnotherOrAnEntry_isRefused() async throws {
            let node = try EtcdNode.started()
            let carrier = try carrier(node)
            for name in [
                ObjectName.segment(WriterID(6), 1), .entry(EntryHash(Data(repeating: 3, count: 32))), Self.name,
            ] {
                let outcome = try await isConfirmed(carrier) { _ = try await carrier.publish(name, Data("x".utf8)) }
                #expect(outcome == .changedSince, "\(name.text)")
            }
            #expect(try await carrier.read([Self.name]).objects.map(\.bytes) == [Data("x".utf8)])
        }

        @Test func segment_afterWhatIsNoWrite_isCreated() async throws {
            let node = try EtcdNode.started()
            let carrier = try carrier(node)
            let outcome = try await isConfirmed(carrier) {
                _ = try await carrier.publish(.head(MemberID(Data(repeating: 3, count: 16)), 1), Data("x".utf8))
                try node.done("put", "/another/ring", "x")
            }
            #expect(outcome == .created)
        }

        static let answers: [(String, String, ConfirmedPublication?)] = [
            ("{\"header\":{\"revision\":\"9\"}}", "200 OK", .changedSince),
            ("<html>", "502 Bad Gateway", .unknown),
            ("{\"code\":14,\"message\":\"etcdserver: no leader\"}", "503 Service Unavailable", .unknown),
            ("{\"code\":7,\"message\":\"permission denied\"}", "403 Forbidden", nil),
            ("{\"code\":8,\"message\":\"etcdserver: mvcc: database space exceeded\"}", "429 Too Many", .unknown),
        ]

        @Test(arguments: answers)
        func answer_ofAServer_isNeverTakenForMore(
            _ body: String, _ status: String, _ expected: ConfirmedPublication?
        ) async throws {
            let server = try HostileServer { $0.answer(body, status: status) }
            // Each answer is awaited. A server without a leader is asked again for a second only.
            var timing = HostileServer.patience
            timing.whole = .seconds(1)
            let carrier = try #require(
                try EtcdKind(timing).carrier(of: Self.ring, at: server.place()) as? any ConfirmingCarrier)
            guard let expected else {
                await #expect(throws: CarrierFailure.self) {
                    _ = try await carrier.publish(Self.name, Self.bytes, ifUnchangedSince: 8)
                }
                return
            }
            #expect(try await carrier.publish(Self.name, Self.bytes, ifUnchangedSince: 8) == expected)
        }
    }

    extension [Machine] {
        fileprivate func asyncMap<Output>(_ body: (Machine) async throws -> Output) async throws -> [Output] {
            var outputs: [Output] = []
            for machine in self { outputs.append(try await body(machine)) }
            return outputs
        }
    }
#endif
