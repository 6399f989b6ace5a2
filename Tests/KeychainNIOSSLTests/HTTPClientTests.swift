// SPDX-License-Identifier: Apache-2.0
// The code in the comments of this module, with async-http-client and nginx.

#if NIOSSL && Etcd
    import AsyncHTTPClient
    import Foundation
    import KeychainKeyStore
    import KeychainKit
    import KeychainNIOSSL
    import KeychainTestSupport
    import NIOCore
    import NIOHTTP1
    import NIOSSL
    import Testing

    @Suite(
        "TLS with async-http-client",
        .enabled(if: TestAuthority.isInstalled && Nginx.isInstalled, "openssl, nginx or python3 is not installed"))
    struct HTTPClientTests {
        private struct NoIdentity: Error {}

        private let authority: TestAuthority
        private let vault: LockableVault
        private let keys: KeyStore

        init() throws {
            (authority, vault) = (try TestAuthority(), try LockableVault())
            var keys = KeyStore(accessibility: .whenUnlocked, store: vault.vault)
            keys.timeout = Timeout(operation: .testLimit)
            self.keys = keys
            try authority.issue("server", "p256")
            _ = try authority.identity("alice", in: keys)
        }

        /// A client of the only identity.
        private func configuration() async throws -> HTTPClient.Configuration {
            /// The user's keychain in the original.
            func KeyStore() -> KeychainKeyStore.KeyStore { self.keys }
            let keys = KeyStore()
            let usable = CertificateSearch(usage: .clientAuthentication, validAt: Date())
            guard let identity = try await keys.identities(matching: usable).first else { throw NoIdentity() }

            var tls = TLSConfiguration.makeClientConfiguration()
            try tls.authenticate(as: identity, with: keys)
            var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
            configuration.connectionPool.retryConnectionEstablishment = false
            // The tests beside this one may keep the machine busy for longer than its 10 seconds.
            configuration.timeout.connect = .hours(1)
            // A socket has no name.
            configuration.tlsConfiguration?.certificateVerification = .noHostnameVerification
            configuration.tlsConfiguration?.trustRoots = .certificates([try authority.root])
            return configuration
        }

        /// What nginx answers.
        ///
        /// - Parameter before: What happens before the request.
        private func answer(_ before: () throws -> Void = {}) async throws -> String {
            let nginx = try Nginx(authority)
            let url = try #require(URL(httpsURLWithSocketPath: nginx.socket))
            let client = HTTPClient(configuration: try await configuration())
            do {
                try before()
                var request = HTTPClientRequest(url: url.absoluteString)
                request.headers.add(name: "Host", value: "localhost")
                let response = try await client.execute(request, timeout: .hours(1))
                let body = try await response.body.collect(upTo: 1 << 16)
                try await client.shutdown()
                return String(buffer: body)
            } catch {
                try await client.shutdown()
                throw error
            }
        }

        @Test func client_asInTheComments_isAccepted() async throws {
            let answer = try await answer()
            #expect(answer.hasPrefix("SUCCESS CN=alice"), "\(answer)")
        }

        @Test func client_ofALockedVault_failsWithTheErrorOfTheKey() async throws {
            let error = await #expect(throws: KeychainError.self) {
                try await answer { try vault.setLockState(.locked) }
            }
            #expect(error?.reason == .locked)
        }
    }
#endif
