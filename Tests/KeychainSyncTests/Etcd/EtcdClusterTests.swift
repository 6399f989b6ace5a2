// SPDX-License-Identifier: Apache-2.0
// Rings over an etcd, as programs make them.

#if Etcd
    import Foundation
    import KeychainEngine
    import KeychainTestSupport
    import SecretMemory
    import Testing

    @testable import KeychainSync
    @testable import KeychainSyncEtcd

    struct EtcdClusterTests {
        private static let endpoints = ["https://a.example:2379", "https://b.example:2379"]

        private static func stored(_ change: (inout EtcdCluster) -> Void) throws -> EtcdPlace {
            var cluster = EtcdCluster(endpoints)
            change(&cluster)
            return try EtcdPlace(SyncPlace.etcd(cluster).place)
        }

        @Test func eachPart_isInThePlaceThatIsStored() throws {
            let place = try Self.stored {
                ($0.authorities, $0.certificate, $0.key) = ("/ca.pem", "/own.pem", "/own.key")
                ($0.user, $0.password, $0.prefix) = ("laptop", SecretBytes(text: "several words"), "/team/")
            }
            #expect(place.endpoints.map(\.text) == Self.endpoints)
            #expect([place.authorities, place.certificate, place.key] == ["/ca.pem", "/own.pem", "/own.key"])
            #expect([place.user, place.password, place.prefix] == ["laptop", "several words", "/team/"])
        }

        @Test func place_asText_showsAddressesAndNoPassword() throws {
            var cluster = EtcdCluster(Self.endpoints)
            (cluster.user, cluster.password) = ("laptop", SecretBytes(text: "hunter2"))
            let place = try SyncPlace.etcd(cluster)
            var dumped = ""
            dump(place, to: &dumped)
            #expect("\(place)" == "etcd:https://a.example:2379,https://b.example:2379")
            #expect(!dumped.contains("hunter2"))
        }

        private static let notUTF8 = [UInt8(0xff)].withUnsafeBytes { SecretBytes(copying: $0) }

        /// What is wrong with a cluster.
        static let wrong: [(String, @Sendable (inout EtcdCluster) -> Void)] = [
            ("no address", { $0.endpoints = [] }),
            ("no scheme", { $0.endpoints = ["a.example:2379"] }),
            ("another machine without TLS", { $0.endpoints = ["http://a.example:2379"] }),
            ("17 addresses", { $0.endpoints = Array(repeating: "https://a.example", count: 17) }),
            ("a certificate without a key", { $0.certificate = "/own.pem" }),
            ("a relative path", { $0.authorities = "ca.pem" }),
            ("a path with a zero byte", { $0.authorities = "/ca\0.pem" }),
            ("a user without a password", { $0.user = "laptop" }),
            ("a zero byte in the user", { ($0.user, $0.password) = ("lap\0top", SecretBytes(text: "words")) }),
            ("a password that is not UTF-8", { ($0.user, $0.password) = ("laptop", notUTF8) }),
            ("a prefix without a slash", { $0.prefix = "/team" }),
        ]

        @Test(arguments: wrong)
        func cluster_thatCannotBeMeant_isRefused(
            _ name: String, _ change: @Sendable (inout EtcdCluster) -> Void
        ) throws {
            let error = #expect(throws: KeychainError.self) { _ = try Self.stored(change) }
            #expect(error?.reason == .invalidParameter)
        }

        @Test func otherMachineWithoutTLS_thatIsAllowed_isTaken() throws {
            let place = try Self.stored {
                ($0.endpoints, $0.allowsHTTP) = (["http://a.example:2379"], true)
            }
            #expect(place.allowsHTTP)
        }
    }

    @Suite(.enabled(if: Etcd.isInstalled, Etcd.isMissing), .serialized)
    struct EtcdProgramTests {
        private let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder("etcd-program") }

        private func vault(_ name: String) throws -> Machine { try Machine(folder.path, name) }

        @Test func ring_foundedAndJoinedByProgramsOverEtcd_shares() async throws {
            let node = try EtcdNode.started()
            let place = try SyncPlace.etcd(EtcdCluster([node.url]))
            let (laptop, desktop) = (try vault("laptop"), try vault("desktop"))
            try laptop.add("a", "1")
            let (sync, other) = (
                try KeychainSync(vault: laptop.vault, ways: [.patientEtcd]),
                try KeychainSync(vault: desktop.vault, ways: [.patientEtcd])
            )
            #expect(try await sync.found(name: "laptop", at: place).isComplete)
            let code = try await sync.invite(name: "desktop")
            async let joined = other.join(code: code, at: place)
            let admission = Task {
                while try await sync.now(timeout: .seconds(600)).admitted != ["desktop"] { await Task.yield() }
            }
            #expect(try await joined.received == 1)
            try await admission.value
            #expect(try desktop.items() == ["a=1"])
        }

        @Test func programWithoutTheWay_isToldSo() async throws {
            let node = try EtcdNode.started()
            let machine = try vault("laptop")
            let place = try SyncPlace.etcd(EtcdCluster([node.url]))
            try await KeychainSync(vault: machine.vault, ways: [.patientEtcd]).found(name: "laptop", at: place)
            let error = await #expect(throws: KeychainError.self) { try await KeychainSync(vault: machine.vault).now() }
            #expect(error?.reason == .unsupported)
        }
    }
#endif
