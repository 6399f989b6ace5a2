// SPDX-License-Identifier: Apache-2.0
// Identities of the keychain against servers and clients that are not swift-nio: nginx and the openssl program.

#if NIOSSL
    import Crypto
    import Foundation
    import KeychainKeyStore
    import KeychainKit
    @testable import KeychainNIOSSL
    import KeychainTestSupport
    import NIOSSL
    import Testing

    private let hasPrograms = TestAuthority.isInstalled && Nginx.isInstalled

    @Suite(
        "TLS with nginx and openssl", .enabled(if: hasPrograms, "openssl, nginx or python3 is not installed"))
    struct InteroperabilityTests {
        private let authority: TestAuthority
        private let keys: KeyStore

        init() throws {
            authority = try TestAuthority()
            var keys = KeyStore(store: try TemporaryVault())
            keys.timeout = Timeout(operation: .testLimit)
            self.keys = keys
        }

        private func client(_ version: TLSVersion? = nil) throws -> TLSConfiguration {
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.trustRoots = .certificates([try authority.root])
            (configuration.minimumTLSVersion, configuration.maximumTLSVersion) = (version ?? .tlsv12, version)
            return configuration
        }

        private static let versions: [(TLSVersion, name: String, option: String)] = [
            (.tlsv12, "TLSv1.2", "-tls1_2"), (.tlsv13, "TLSv1.3", "-tls1_3"),
        ]

        /// nginx has only the root, so the authority between comes from the keychain.
        @Test func client_withAKeyOfEachKind_isAcceptedByNginx() async throws {
            try authority.issue("server", "p256")
            let nginx = try Nginx(authority)
            for kind in TestAuthority.kinds.keys.sorted() {
                let identity = try authority.identity(kind, kind, in: keys)
                for (version, name, _) in Self.versions {
                    var configuration = try client(version)
                    try configuration.authenticate(as: identity, with: keys)
                    // OpenSSL looks for the curve of the key among those that the client offers.
                    if kind == "p521" { configuration.curves = [.x25519, .secp256r1, .secp521r1] }
                    do {
                        let answer = try await TLSClient.answer(configuration, from: nginx.socket)
                        #expect(answer.hasSuffix("SUCCESS CN=\(kind) \(name)"), "\(answer)")
                    } catch {
                        Issue.record("\(kind), \(name): \(error)")
                    }
                }
            }
        }

        @Test func client_withAKeyThatIsNotExportable_isAcceptedByNginx() async throws {
            try authority.issue("server", "p256")
            let nginx = try Nginx(authority)
            let identity = try authority.identityNotExportable("alice", in: keys)
            for (version, name, _) in Self.versions {
                var configuration = try client(version)
                try configuration.authenticate(as: identity, with: keys)
                let answer = try await TLSClient.answer(configuration, from: nginx.socket)
                #expect(answer.hasSuffix("SUCCESS CN=alice \(name)"), "\(answer)")
            }
            let failure = #expect(throws: KeychainError.self) {
                _ = try keys.read(P256.Signing.PrivateKey.self, of: identity)
            }
            #expect(failure?.reason == .unsupported)
        }

        /// The certificate is that of an authority that nginx does not know, or of another key.
        @Test func client_thatIsNotWhomItClaims_isRefusedByNginx() async throws {
            try authority.issue("server", "rsa")
            let nginx = try Nginx(authority)
            #expect(try await TLSClient.answer(client(), from: nginx.socket).contains("No required SSL certificate"))
            let stranger = try TestAuthority()
            var configuration = try client()
            try configuration.authenticate(as: stranger.identity("stranger", in: keys), with: keys)
            #expect(try await TLSClient.answer(configuration, from: nginx.socket).contains("SSL certificate error"))
            try configuration.authenticate(as: authority.identity("alice", in: keys), with: keys)
            let signer = try keys.signer(of: authority.identity("thief", in: keys))
            configuration.privateKey = .privateKey(NIOSSLPrivateKey(signer))
            await #expect(throws: BoringSSLError.self) { try await TLSClient.answer(configuration, from: nginx.socket) }
        }

        @Test func server_withAKeyOfEachKind_isAcceptedByOpenSSL() async throws {
            for kind in TestAuthority.kinds.keys.sorted() {
                let identity = try authority.identity(kind, kind, in: keys)
                let configuration = try TLSConfiguration.makeServerConfiguration(authenticatedAs: identity, with: keys)
                let server = try await TLSServer(configuration, at: authority.file("\(kind).sock"))
                for (_, _, option) in Self.versions {
                    let answer = try authority.shell(
                        """
                        echo request | openssl s_client -unix \(kind).sock -CAfile root.pem -verify_return_error -quiet \\
                            -verify_hostname localhost -servername localhost \(option) 2> log || { cat log; exit 1; }
                        """)
                    #expect(answer == "hello", "\(kind) \(option)")
                }
                try await server.close()
            }
        }

        /// Keys of the keychain do not decrypt. The client is told that there is nothing in common, before any key is used.
        @Test func server_ofAClientThatWantsKeyExchangeByRSA_refuses() async throws {
            let identity = try authority.identity("server", "rsa", in: keys)
            let configuration = try TLSConfiguration.makeServerConfiguration(authenticatedAs: identity, with: keys)
            let server = try await TLSServer(configuration, at: authority.file("server.sock"))
            let answer = try authority.shell(
                """
                echo request | openssl s_client -unix server.sock -tls1_2 -cipher AES128-GCM-SHA256 2>&1 && exit 1
                true
                """)
            #expect(answer.contains("handshake failure"), "\(answer)")
            try await server.close()
        }

        @Test func chain_ofAnIdentity_endsBeforeTheRoot() throws {
            let identity = try authority.identity("alice", in: keys)
            #expect(identity.chain.map(\.commonName) == ["alice", "between", "Root"])
            #expect(try identity.certificateSources.count == 2)
        }
    }
#endif
