// SPDX-License-Identifier: Apache-2.0
// The example with an etcd of Docs/Sync.md, word for word.

#if Etcd
    import Foundation
    import KeychainKit
    import KeychainTestSupport
    import KeychainTesting
    import Testing

    @testable import KeychainSync
    @testable import KeychainSyncEtcd

    private typealias Sync = KeychainSync
    private typealias Cluster = EtcdCluster
    private typealias Store = SecretStore

    @Suite("Examples of sync over etcd", .enabled(if: Etcd.isInstalled, Etcd.isMissing), .timeLimit(.minutes(60)))
    struct EtcdExamples {
        /// As in Docs/Sync.md and in the comments, whose addresses are not those of this etcd.
        @Test func cluster_inTheDocument_isWhereTheRingIsFounded() async throws {
            let node = try EtcdNode.started()
            let folder = try TemporaryFolder("etcd-example")
            let vault = try Machine(folder.path, "server").vault
            // swift-format-ignore: AlwaysUseLowerCamelCase
            func EtcdCluster(_ endpoints: [String]) -> Cluster { Cluster([node.url]) }
            // swift-format-ignore: AlwaysUseLowerCamelCase
            func KeychainSync(ways: [SyncWay]) throws -> Sync { try Sync(vault: vault, ways: [.patientEtcd]) }
            var cluster = EtcdCluster(["https://etcd1.example.com:2379", "https://etcd2.example.com:2379"])
            cluster.authorities = "/etc/keychain/etcd-ca.pem"
            let sync = try KeychainSync(ways: [.etcd])
            try await sync.found(name: "server-1", at: .etcd(cluster))
            #expect(try await sync.isInRing)
        }

        /// As in Docs/Sync.md and in the comments. The store is not the user's, and a busy machine may take longer.
        @Test func confirmedChanges_inTheDocument_areMade() async throws {
            let node = try EtcdNode.started()
            let folder = try TemporaryFolder("etcd-example")
            let vault = try Machine(folder.path, "server").vault
            try await Sync(vault: vault, ways: [.patientEtcd]).found(name: "server-1", at: .etcd(Cluster([node.url])))
            // swift-format-ignore: AlwaysUseLowerCamelCase
            func KeychainSync(ways: [SyncWay]) throws -> Sync {
                Sync(RingMember(vault, kinds: [SyncWay.patientEtcd.kind]), clock: TestClock())
            }
            // swift-format-ignore: AlwaysUseLowerCamelCase
            func SecretStore(service: String, synchronizable: Bool) -> Store {
                var store = Store(service: service, synchronizable: synchronizable, store: vault)
                store.timeout = Timeout(operation: .seconds(900))
                return store
            }
            let token = "t0ken"
            let sync = try KeychainSync(ways: [.etcd])
            let store = SecretStore(service: "com.example.app", synchronizable: true)
            let agreed = store.through(sync.confirming(within: .seconds(5)))
            try await agreed.save(token, for: "a")
            try await agreed.update(Int.self, for: "count") { $0 = ($0 ?? 0) + 1 }
            #expect(try await store.read(String.self, for: "a") == token)
            let confirmed = sync.confirming(within: .seconds(5))
            try await store.through(confirmed).save(token, for: "alice")
            #expect(try await store.read(String.self, for: "alice") == token)
            #expect(try await store.read(Int.self, for: "count") == 1)
        }
    }
#endif
