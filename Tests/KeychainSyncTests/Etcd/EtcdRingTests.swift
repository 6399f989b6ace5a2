// SPDX-License-Identifier: Apache-2.0
// Vaults of several machines over an etcd, from the item that is saved to the item that is read elsewhere.

#if Etcd
    import Foundation
    import KeychainEngine
    import KeychainTestSupport
    import KeychainVault
    import SecretMemory
    import Testing

    @testable import KeychainSync
    @testable import KeychainSyncCore
    @testable import KeychainSyncEtcd

    @Suite(.enabled(if: Etcd.isInstalled, Etcd.isMissing), .serialized)
    struct EtcdRingTests {
        private let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder("etcd-ring") }

        private func machine(_ name: String, _ timing: EtcdTiming = Etcd.timing) throws -> Machine {
            // Each has its own kind, as each is another process.
            try Machine(folder.path, name, kinds: [EtcdKind(timing)])
        }

        private func pair(
            _ place: CarrierPlace, _ timing: EtcdTiming = Etcd.timing
        ) async throws -> (Machine, Machine) {
            let (laptop, desktop) = (try machine("laptop", timing), try machine("desktop", timing))
            _ = try await laptop.member.found(name: "laptop", at: place)
            try await laptop.admit(desktop, at: place)
            return (laptop, desktop)
        }

        @Test func itemsOfTwoMachines_overOneNode_areOnBoth() async throws {
            let node = try EtcdNode.started()
            let (laptop, desktop) = try await pair(node.place())
            try laptop.add("a", "1")
            try await laptop.exchange()
            try await desktop.exchange()
            #expect(try desktop.items() == ["a=1"])
            try desktop.update("a", "2")
            try desktop.add("b", "3")
            try await desktop.exchange()
            try await laptop.exchange()
            #expect(try laptop.items() == ["a=2", "b=3"])
            #expect(try await laptop.member.status().compareCode == desktop.member.status().compareCode)
        }

        @Test func value_ofManyBytes_arrivesWhole() async throws {
            let node = try EtcdNode.started()
            let (laptop, desktop) = try await pair(node.place())
            let value = String(repeating: "0123456789abcdef", count: 200_000)
            try laptop.add("large", value)
            try await laptop.exchange()
            try await desktop.exchange()
            #expect(try desktop.items() == ["large=" + value])
        }

        @Test func watchingMachine_getsWhatTheOtherSends() async throws {
            let node = try EtcdNode.started()
            let (laptop, desktop) = try await pair(node.place())
            let watch = Task { try await desktop.member.watch { _ in } }
            defer { watch.cancel() }
            try laptop.add("a", "1")
            try await laptop.exchange()
            try await yieldUntil("the item arrives") { try desktop.items() == ["a=1"] }
        }

        @Test func leaderThatIsKilledDuringExchanges_losesNothing() async throws {
            let cluster = try EtcdNodes()
            let (laptop, desktop) = try await pair(cluster.place(), Etcd.timingOfNodes)
            var acknowledged: [String] = []
            for number in 10..<30 {
                try laptop.add("a\(number)", "v")
                let killing: Task<Void, any Error>? = number == 14 ? Task { try cluster.leader().signal(SIGKILL) } : nil
                do {
                    try await laptop.exchange()
                    if try await laptop.member.status().pending == 0 { acknowledged.append("a\(number)=v") }
                } catch let error as KeychainError {
                    #expect(error.reason == .unavailable)
                }
                try await killing?.value
            }
            #expect(!acknowledged.isEmpty)
            try await desktop.exchange()
            #expect(Set(try desktop.items()).isSuperset(of: acknowledged))
            try await laptop.exchange()
            try await desktop.exchange()
            #expect(try desktop.items() == (10..<30).map { "a\($0)=v" })
        }

        @Test func nodeThatIsStopped_isPassedOver() async throws {
            let cluster = try EtcdNodes()
            let (laptop, desktop) = try await pair(cluster.place(), Etcd.timingOfNodes)
            cluster.nodes[0].signal(SIGSTOP)
            try laptop.add("a", "1")
            try await laptop.exchange()
            try await desktop.exchange()
            #expect(try desktop.items() == ["a=1"])
        }

        @Test func watchOverANodeThatIsStopped_goesOnWithAnother() async throws {
            let cluster = try EtcdNodes()
            var timing = Etcd.timingOfNodes
            timing.silence = .seconds(2)
            let kind = EtcdKind(timing)
            let ring = RingID(Data(repeating: 7, count: 32))
            let carrier = try kind.carrier(of: ring, at: cluster.place())
            let hints = try await WatchedHints(carrier)
            try await hints.expect {
                cluster.nodes[0].signal(SIGSTOP)
                let other = try EtcdKind(Etcd.timingOfNodes).carrier(of: ring, at: cluster.nodes[1].place())
                try await yieldUntil("the others have a leader") {
                    do {
                        return try await other.publish(.segment(WriterID(5), 9), Data("x".utf8)) != .otherThere
                    } catch {
                        return false
                    }
                }
            }
        }

        @Test func nodesWithoutAMajority_areUnavailable_andLocalWorkGoesOn() async throws {
            let cluster = try EtcdNodes()
            let (laptop, desktop) = try await pair(cluster.place(), Etcd.timingOfNodes)
            for node in cluster.nodes.prefix(2) { node.signal(SIGSTOP) }
            try laptop.add("a", "1")
            let impatient = laptop.impatient
            let error = await #expect(throws: KeychainError.self) { try await impatient.exchange() }
            #expect(error?.reason == .unavailable)
            #expect(try laptop.items() == ["a=1"])
            for node in cluster.nodes.prefix(2) { node.signal(SIGCONT) }
            try await yieldUntil("there is a majority") {
                do { try await laptop.exchange() } catch { return false }
                return true
            }
            try await desktop.exchange()
            #expect(try desktop.items() == ["a=1"])
        }

        @Test func etcdRestoredFromASnapshot_isNoticedAndFilledAgain() async throws {
            let node = try EtcdNode.started()
            let (laptop, desktop) = try await pair(node.place())
            let snapshot = folder.path + "/snapshot.db"
            try node.done("snapshot", "save", snapshot)
            try laptop.add("a", "1")
            try await laptop.exchange()
            try await desktop.exchange()
            try node.restore(snapshot)
            let report = try await desktop.exchange()
            let isNoticed = report.findings.contains {
                if case .revisionWentBack = $0 { true } else { false }
            }
            #expect(isNoticed)
            try await laptop.exchange()
            let tablet = try machine("tablet")
            try await laptop.admit(tablet, at: node.place())
            #expect(try tablet.items() == ["a=1"])
        }

        @Test func programWithoutEtcd_saysSo_andOnlySyncingFails() async throws {
            let node = try EtcdNode.started()
            let (laptop, _) = try await pair(node.place())
            let program = RingMember(Vault(laptop.vault.location, laptop.vault.settings))
            try laptop.add("a", "1")
            let error = await #expect(throws: KeychainError.self) {
                _ = try await program.exchange(timeout: .seconds(900))
            }
            #expect(error?.reason == .unsupported)
            #expect(error?.message.contains("trait Etcd") == true)
            #expect(try await program.status().place.text == "etcd:" + node.url)
            #expect(try laptop.items() == ["a=1"])
            try program.forget()
            #expect(try laptop.items() == ["a=1"])
        }

        @Test func password_isSealedInTheVault() async throws {
            let node = try EtcdNode.started()
            let place = try node.place { ($0.user, $0.password) = ("laptop", "hunter2-hunter2") }
            let laptop = try machine("laptop")
            _ = try await laptop.member.found(name: "laptop", at: place)
            let database = laptop.vault.location.folder
            for file in try FileManager.default.subpathsOfDirectory(atPath: database) {
                guard let bytes = FileManager.default.contents(atPath: database + "/" + file) else { continue }
                #expect(bytes.firstRange(of: Data("hunter2".utf8)) == nil, "\(file)")
            }
            // Another process reads it from there.
            let again = RingMember(Vault(laptop.vault.location, laptop.vault.settings), kinds: [EtcdKind(Etcd.timing)])
            _ = try await again.exchange(timeout: .seconds(900))
            #expect(try await again.status().place == place)
        }
    }
#endif
