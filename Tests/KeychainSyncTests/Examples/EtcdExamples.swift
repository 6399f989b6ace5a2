// SPDX-License-Identifier: Apache-2.0
// The example with an etcd of Docs/Sync.md, word for word.

#if Etcd
    import Foundation
    import KeychainTestSupport
    import Testing

    @testable import KeychainSync
    @testable import KeychainSyncEtcd

    private typealias Sync = KeychainSync
    private typealias Cluster = EtcdCluster

    @Suite("Examples of sync over etcd", .enabled(if: Etcd.isInstalled, Etcd.isMissing), .timeLimit(.minutes(10)))
    struct EtcdExamples {
        /// As in Docs/Sync.md and in the comments, whose addresses are not those of this etcd.
        @Test func cluster_inTheDocument_isWhereTheRingIsFounded() async throws {
            let node = try EtcdNode.started()
            let folder = try TemporaryFolder("etcd-example")
            let vault = try Machine(folder.path, "server").vault
            // swift-format-ignore: AlwaysUseLowerCamelCase
            func EtcdCluster(_ endpoints: [String]) -> Cluster { Cluster([node.url]) }
            // swift-format-ignore: AlwaysUseLowerCamelCase
            func KeychainSync(ways: [SyncWay]) throws -> Sync { try Sync(vault: vault, ways: ways) }
            var cluster = EtcdCluster(["https://etcd1.example.com:2379", "https://etcd2.example.com:2379"])
            cluster.authorities = "/etc/keychain/etcd-ca.pem"
            let sync = try KeychainSync(ways: [.etcd])
            try await sync.found(name: "server-1", at: .etcd(cluster))
            #expect(try await sync.isInRing)
        }
    }
#endif
