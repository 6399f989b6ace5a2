// SPDX-License-Identifier: Apache-2.0
// Users, roles and certificates of an etcd.

#if Etcd
    import Foundation
    import KeychainSync
    import KeychainTestSupport
    import SecretMemory
    import Testing

    @testable import KeychainSyncCore
    @testable import KeychainSyncEtcd

    @Suite(.enabled(if: Etcd.isInstalled, Etcd.isMissing), .serialized)
    struct EtcdUserTests {
        private let node: EtcdNode
        private static let ring = RingID(Data(repeating: 7, count: 32))
        private static let name = ObjectName.segment(WriterID(5), 9)
        private static let bytes = Data("an object".utf8)

        init() throws {
            node = try EtcdNode()
            try node.start([node])
            try node.awaitReady()
            try node.done("user", "add", "root:rootpw")
            try node.done("role", "add", "root")
            try node.done("user", "grant-role", "root", "root")
            for (user, prefix) in [("laptop", "/skc1/"), ("stranger", "/other/")] {
                try node.done("user", "add", user + ":pw")
                try node.done("role", "add", user)
                try node.done("role", "grant-permission", "--prefix=true", user, "readwrite", prefix)
                try node.done("user", "grant-role", user, user)
            }
            try node.done("auth", "enable")
        }

        private func carrier(_ user: String?, _ password: String? = "pw") throws -> any Carrier {
            let place = try node.place { ($0.user, $0.password) = (user, user == nil ? nil : password) }
            return try EtcdKind(Etcd.timing).carrier(of: Self.ring, at: place)
        }

        private static func failure(_ carrier: any Carrier) async -> CarrierFailure? {
            do { _ = try await carrier.publish(name, bytes) } catch { return error }
            return nil
        }

        @Test func user_withItsRole_exchanges() async throws {
            let carrier = try carrier("laptop")
            #expect(try await carrier.publish(Self.name, Self.bytes) == .created)
            #expect(try await carrier.list().names == [Self.name])
            #expect(try await carrier.read([Self.name]).objects.count == 1)
            try await carrier.remove([Self.name])
        }

        @Test func passwordThatIsWrong_isSaidAndNotShown() async throws {
            let failure = try #require(await Self.failure(try carrier("laptop", "hunter2")))
            #expect(failure.reason == .denied)
            #expect(failure.message.contains("password of 'laptop'") && failure.message.contains(node.url))
            #expect(!failure.message.contains("hunter2"))
        }

        @Test func userWithoutPermission_isSaid() async throws {
            let failure = try #require(await Self.failure(try carrier("stranger")))
            #expect(failure.reason == .denied)
            #expect(failure.message.contains("'stranger'") && failure.message.contains("permission"))
        }

        @Test func nobody_isAskedForAUser() async throws {
            let failure = try #require(await Self.failure(try carrier(nil)))
            #expect(failure.reason == .denied)
            #expect(failure.message.contains("--etcd-user"))
        }

        @Test func tokenThatTheNodeHasForgotten_isReplaced() async throws {
            let carrier = try carrier("laptop")
            _ = try await carrier.publish(Self.name, Self.bytes)
            node.end()
            try node.start([node])
            try node.awaitReady(["--user", "root:rootpw"])
            #expect(try await carrier.publish(Self.name, Self.bytes) == .alreadySame)
        }

        @Test func watch_ofAUserWhoseTokenIsForgotten_goesOn() async throws {
            var timing = Etcd.timing
            timing.silence = .milliseconds(500)
            let place = try node.place { ($0.user, $0.password) = ("laptop", "pw") }
            let carrier = try EtcdKind(timing).carrier(of: Self.ring, at: place)
            let hints = try await WatchedHints(carrier)
            node.end()
            try node.start([node])
            try node.awaitReady(["--user", "root:rootpw"])
            // The node has forgotten all tokens.
            try await hints.expect { _ = try await carrier.publish(Self.name, Self.bytes) }
        }

        @Test func userOfAnEtcdWithoutUsers_exchanges() async throws {
            let open = try EtcdNode.started()
            let place = try open.place { ($0.user, $0.password) = ("laptop", "pw") }
            let carrier = try EtcdKind(Etcd.timing).carrier(of: Self.ring, at: place)
            #expect(try await carrier.publish(Self.name, Self.bytes) == .created)
        }
    }

    @Suite(.enabled(if: Etcd.isInstalled, Etcd.isMissing), .serialized)
    struct EtcdCertificateTests {
        private let files: TemporaryFolder
        private let node: EtcdNode
        private static let ring = RingID(Data(repeating: 7, count: 32))

        init() throws {
            files = try TemporaryFolder("etcd-tls")
            for authority in ["ca", "other-ca"] { try Self.authority(authority, files.path) }
            // The gateway itself shows the certificate of the server, whose name would be a user.
            try Self.certificate("server", "ca", files.path, "IP:127.0.0.1")
            try Self.certificate("laptop", "ca", files.path, "DNS:laptop")
            try Self.certificate("stranger", "other-ca", files.path, "DNS:laptop")
            try Self.certificate("misnamed", "ca", files.path, "DNS:elsewhere.example")
            node = try Self.node("server", files.path)
        }

        private static func node(_ certificate: String, _ folder: String) throws -> EtcdNode {
            let node = try EtcdNode(
                "n1", isSecure: true,
                [
                    "--cert-file", "\(folder)/\(certificate).pem", "--key-file", "\(folder)/\(certificate).key",
                    "--trusted-ca-file", "\(folder)/ca.pem", "--client-cert-auth",
                ])
            try node.start([node])
            return node
        }

        private static func openssl(_ arguments: String...) throws {
            let program = Process()
            program.executableURL = URL(fileURLWithPath: Programs.installed("openssl") ?? "")
            program.arguments = arguments
            let pipe = Pipe()
            (program.standardOutput, program.standardError) = (pipe, pipe)
            try program.run(limitedTo: .seconds(120))
            let text = String(decoding: try pipe.fileHandleForReading.readAll(), as: UTF8.self)
            try program.waitForEnd()
            guard program.terminationStatus == 0 else {
                throw EtcdControlFailure(description: "openssl \(arguments): \(text)")
            }
        }

        private static func authority(_ name: String, _ folder: String) throws {
            try openssl(
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                "/O=\(name)", "-keyout", "\(folder)/\(name).key", "-out", "\(folder)/\(name).pem")
        }

        private static func certificate(_ name: String, _ authority: String, _ folder: String, _ names: String) throws {
            let file = "\(folder)/\(name)"
            try openssl(
                "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/O=\(name)",
                "-keyout",
                file + ".key", "-out", file + ".csr")
            try Data("subjectAltName=\(names)\n".utf8).write(to: URL(fileURLWithPath: file + ".ext"))
            try openssl(
                "x509", "-req", "-in", file + ".csr", "-CA", "\(folder)/\(authority).pem", "-CAkey",
                "\(folder)/\(authority).key", "-CAcreateserial", "-days", "2", "-extfile", file + ".ext", "-out",
                file + ".pem")
        }

        private func carrier(
            _ authority: String, _ certificate: String?, _ node: EtcdNode? = nil, through proxy: DamagingProxy? = nil
        ) throws -> any Carrier {
            let place = try (node ?? self.node).place {
                if let proxy { $0.endpoints = try EtcdPlace.endpoints("https://127.0.0.1:\(proxy.port)") }
                $0.authorities = "\(files.path)/\(authority).pem"
                if let certificate {
                    ($0.certificate, $0.key) = ("\(files.path)/\(certificate).pem", "\(files.path)/\(certificate).key")
                }
            }
            return try EtcdKind(Etcd.timing).carrier(of: Self.ring, at: place)
        }

        private static func failure(_ carrier: any Carrier) async -> CarrierFailure? {
            do { _ = try await carrier.list() } catch { return error }
            return nil
        }

        private func ready() async throws -> any Carrier {
            let carrier = try carrier("ca", "laptop")
            try await yieldUntil("etcd is ready") { await Self.failure(carrier) == nil }
            return carrier
        }

        @Test func machine_withACertificateOfTheAuthority_exchanges() async throws {
            let carrier = try await ready()
            #expect(try await carrier.publish(.segment(WriterID(5), 9), Data("x".utf8)) == .created)
            #expect(try await carrier.list().names.count == 1)
        }

        @Test(arguments: [("ca", "stranger"), ("ca", nil), ("other-ca", "laptop")] as [(String, String?)])
        func certificateOfAnotherAuthority_isSaid(_ authority: String, _ certificate: String?) async throws {
            _ = try await ready()
            let failure = await Self.failure(try carrier(authority, certificate))
            #expect(failure?.reason == .unavailable)
            #expect(failure?.message.contains("certificates") == true, "\(failure?.message ?? "none")")
        }

        @Test func serverOfAnotherName_isNotTrusted() async throws {
            let misnamed = try Self.node("misnamed", files.path)
            let carrier = try carrier("ca", "laptop", misnamed)
            var failure: CarrierFailure?
            try await yieldUntil("etcd accepts connections") {
                failure = await Self.failure(carrier)
                return failure?.message.contains("no connections") != true
            }
            #expect(failure?.message.contains("certificates") == true, "\(failure?.message ?? "none")")
        }

        /// What breaks a connection that was made is no matter of certificates, and the change may be made by then.
        @Test(arguments: DamagingProxy.Damage.allCases)
        func change_whoseAnswerIsDamagedOnTheWay_isFound(_ damage: DamagingProxy.Damage) async throws {
            _ = try await ready()
            let proxy = try DamagingProxy(to: node.client)
            let carrier = try #require(try carrier("ca", "laptop", through: proxy) as? any ConfirmingCarrier)
            let revision = try #require(try await carrier.list().revision)
            proxy.damageNextAnswer(damage)
            let bytes = Data(repeating: 7, count: 8192)
            let outcome = try await carrier.publish(.segment(WriterID(5), 9), bytes, ifUnchangedSince: revision)
            #expect(outcome == .created)
            #expect(proxy.hasDamaged)
        }

        @Test func certificateThatWasReplaced_isReadAgain() async throws {
            _ = try await ready()
            for ending in ["pem", "key"] {
                try FileManager.default.copyItem(
                    atPath: "\(files.path)/stranger.\(ending)", toPath: "\(files.path)/renewed.\(ending)")
            }
            let carrier = try carrier("ca", "renewed")
            #expect(await Self.failure(carrier) != nil)
            for ending in ["pem", "key"] {
                try Data(contentsOf: URL(fileURLWithPath: "\(files.path)/laptop.\(ending)"))
                    .write(to: URL(fileURLWithPath: "\(files.path)/renewed.\(ending)"))
            }
            #expect(await Self.failure(carrier) == nil)
        }
    }
#endif
