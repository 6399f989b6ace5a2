// SPDX-License-Identifier: Apache-2.0
// What happens to a handshake whose key cannot be used, and to a signature whose connection is gone.

#if NIOSSL
    import Crypto
    import Foundation
    import KeychainEngine
    import KeychainKeyStore
    import KeychainKit
    @testable import KeychainNIOSSL
    import KeychainTestSupport
    import KeychainTesting
    import NIOCore
    import NIOEmbedded
    import NIOPosix
    import NIOSSL
    import Testing

    @Suite("TLS handshakes", .enabled(if: TestAuthority.isInstalled, "openssl is not installed"))
    struct HandshakeTests {
        private let authority: TestAuthority

        init() throws { authority = try TestAuthority() }

        private func keys(_ store: any ItemStore, _ person: (any Authenticator)? = nil) -> KeyStore {
            var keys = KeyStore(store: store)
            keys.timeout = Timeout(operation: .testLimit, userInteraction: .testLimit)
            keys.context = AuthenticationContext { person }
            return keys
        }

        /// A server whose key is in a vault, and which demands a certificate.
        private func server() async throws -> TLSServer {
            let keys = keys(try TemporaryVault())
            let identity = try authority.identity("server", in: keys)
            let configuration = try TLSConfiguration.makeServerConfiguration(authenticatedAs: identity, with: keys)
            return try await TLSServer(configuration, demanding: authority.root, at: authority.file("server.sock"))
        }

        private func client(_ identity: KeychainIdentity, _ keys: KeyStore) throws -> TLSConfiguration {
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.trustRoots = .certificates([try authority.root])
            try configuration.authenticate(as: identity, with: keys)
            return configuration
        }

        private func failure(_ client: TLSConfiguration, _ server: TLSServer) async -> KeychainError? {
            await #expect(throws: KeychainError.self) { try await TLSClient.answer(client, from: server.socket) }
        }

        @Test func clients_whenFiftyConnectAtOnce_areAllAnswered() async throws {
            let (server, keys) = (try await server(), keys(try TemporaryVault()))
            let client = try client(authority.identity("alice", in: keys), keys)
            let answers = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<50 { group.addTask { try await TLSClient.answer(client, from: server.socket) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers == Array(repeating: "hello", count: 50))
            try await server.close()
        }

        /// The server has only the root: it accepts the client only with the authority between that is valid.
        @Test func client_whoseIssuerWasRenewed_presentsTheValidCertificate() async throws {
            let (server, keys) = (try await server(), keys(try TemporaryVault()))
            try authority.shell(
                """
                openssl req -new -config settings -key between.key -subj "/CN=between" -out request
                openssl x509 -req -in request -CA root.pem -CAkey root.key -set_serial 1 -days -1 \\
                    -extfile settings -extensions authority -out expired.pem 2> log || { cat log; exit 1; }
                """)
            try await keys.save(KeychainCertificate(pem: authority.text("expired.pem")))
            let identity = try authority.identity("alice", in: keys)
            #expect(try await keys.certificates().count == 4)
            #expect(try await TLSClient.answer(client(identity, keys), from: server.socket) == "hello")
            try await server.close()
        }

        /// Both sides sign while each thread of Swift's pool that becomes free begins to wait.
        @Test func handshake_whileTheThreadsOfTasksAreBusy_isSigned() async throws {
            let (server, keys) = (try await server(), keys(try TemporaryVault()))
            let client = try client(authority.identity("alice", in: keys), keys)
            #expect(try answerWithoutTasks(client, server) == "hello")
            try await server.close()
        }

        private func answerWithoutTasks(_ client: TLSConfiguration, _ server: TLSServer) throws -> String {
            let (answered, released) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let waiting = 2 * ProcessInfo.processInfo.activeProcessorCount
            for _ in 0..<waiting { keepThread(until: released) }
            defer { for _ in 0..<waiting { released.signal() } }
            let answer = try TLSClient.future(client, from: server.socket, on: MultiThreadedEventLoopGroup.singleton)
            answer.whenComplete { _ in answered.signal() }
            let (limit, seconds) = (Duration.testLimit, Double(Duration.testLimit / .seconds(1)))
            guard answered.wait(timeout: .now() + seconds) == .success else { throw LimitReached("The answer", limit) }
            return try answer.wait()
        }

        private func keepThread(until released: DispatchSemaphore) {
            @Sendable func wait() { released.wait() }
            Task { wait() }
        }

        @Test func key_inHardware_signsTheHandshake() async throws {
            let (server, token) = (try await server(), TokenDouble())
            var keys = keys(try TemporaryVault())
            keys.tokens = KeyTokens()
            try keys.tokens.use(token)
            let software = try authority.identity("alice", in: keys)
            try token.plant(
                #require(try await keys.read(P256.Signing.PrivateKey.self, of: software)).x963Representation)
            try await keys.create(.p256, tag: "hardware", protection: .hardware)
            let identity = try #require(try await keys.identities(tag: "hardware").first)
            #expect(try await TLSClient.answer(client(identity, keys), from: server.socket) == "hello")
            #expect(token.calls.contains { $0.hasPrefix("sign") })
            try await server.close()
        }

        @Test func vault_lockedMeanwhile_failsTheHandshakeUntilItIsUnlocked() async throws {
            let (server, vault) = (try await server(), try LockableVault())
            var keys = keys(vault.vault)
            keys.accessibility = .whenUnlocked
            let client = try client(authority.identity("alice", in: keys), keys)
            try vault.setLockState(.locked)
            #expect(await failure(client, server)?.reason == .locked)
            try vault.setLockState(.unlocked)
            #expect(try await TLSClient.answer(client, from: server.socket) == "hello")
            try await server.close()
        }

        @Test func key_removedOrReplacedMeanwhile_failsTheHandshake() async throws {
            let (server, keys) = (try await server(), keys(try TemporaryVault()))
            let client = try client(authority.identity("alice", in: keys), keys)
            try await keys.save(P256.Signing.PrivateKey(), tag: "alice")
            #expect(await failure(client, server)?.reason == .itemNotFound)
            try await keys.remove(tag: "alice")
            #expect(await failure(client, server)?.reason == .itemNotFound)
            try await server.close()
        }

        @Test func vault_removedMeanwhile_failsTheHandshake() async throws {
            let (server, vault) = (try await server(), try TemporaryVault())
            let keys = keys(vault)
            let client = try client(authority.identity("alice", in: keys), keys)
            let folder = URL(fileURLWithPath: vault.lockFile).deletingLastPathComponent()
            try FileManager.default.removeItem(at: folder)
            // A vault does not look at its files before each read.
            try await yieldUntil("The failure") { (try? await TLSClient.answer(client, from: server.socket)) == nil }
            try await server.close()
        }

        @Test func key_thatRequiresTheUser_isUsedAfterAProofOrFailsTheHandshake() async throws {
            let (server, store) = (try await server(), try TemporaryVault(passphrase: "p"))
            var keys = keys(store, Person(passphrase: "p"))
            keys.accessControl = .userPresence
            let identity = try authority.identity("alice", in: keys)
            #expect(try await TLSClient.answer(client(identity, keys), from: server.socket) == "hello")
            keys.context = AuthenticationContext { nil }
            #expect(try await failure(client(identity, keys), server)?.reason == .interactionNotAllowed)
            try await server.close()
        }

        @Test func store_thatNeverAnswers_failsTheHandshakeAfterTheTimeout() async throws {
            let (server, store) = (try await server(), ScriptedStore())
            var keys = keys(store)
            let identity = try authority.identity("alice", in: keys)
            keys.timeout = Timeout(operation: .milliseconds(1))
            store.fail(.neverAnswers, .every, on: [.select])
            #expect(try await failure(client(identity, keys), server)?.reason == .timedOut)
            store.reset()
            try await server.close()
        }

        // MARK: - Without a connection

        /// A client whose user does not answer.
        private func waitingClient() throws -> (TLSConfiguration, SlowPerson) {
            var keys = keys(try TemporaryVault(passphrase: "p"), Person(passphrase: "p"))
            keys.accessControl = .userPresence
            let (identity, person) = (try authority.identity("alice", in: keys), SlowPerson())
            keys.context = AuthenticationContext { person }
            return (try client(identity, keys), person)
        }

        private struct NobodyWasAsked: Error {}

        /// Connects, and returns when the user is asked.
        private func connect(
            _ client: (TLSConfiguration, SlowPerson), to socket: String,
            on group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
        ) async throws -> Task<String, any Error> {
            let (events, happened) = AsyncStream<Bool>.makeStream()
            let answer = Task {
                defer { happened.yield(false) }
                return try await TLSClient.answer(client.0, from: socket, on: group)
            }
            Task {
                await client.1.wasAsked()
                happened.yield(true)
            }
            for await isAsked in events {
                if isAsked { return answer }
                break
            }
            throw NobodyWasAsked()
        }

        @Test(.enabled(if: Nginx.isInstalled, "nginx or python3 is not installed"))
        func server_thatEndsWhileTheUserIsAsked_withdrawsTheQuestion() async throws {
            try authority.issue("server", "p256")
            let nginx = try Nginx(authority)
            let client = try waitingClient()
            let answer = try await connect(client, to: nginx.socket)
            nginx.stop()
            await #expect(throws: (any Error).self) { try await answer.value }
            try await yieldUntil("the question to be withdrawn") { client.1.wasCancelled }
        }

        /// A result that comes later is dropped: the event loop takes none any more.
        @Test func eventLoops_shutDownWhileTheUserIsAsked_withdrawTheQuestion() async throws {
            let (server, client) = (try await server(), try waitingClient())
            let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
            let answer = try await connect(client, to: server.socket, on: group)
            try await group.shutdownGracefully()
            await #expect(throws: (any Error).self) { try await answer.value }
            try await yieldUntil("the question to be withdrawn") { client.1.wasCancelled }
            try await server.close()
        }

        /// On one thread, as an embedded channel demands: nothing is signed before it is closed.
        @Test func channel_closedWhileItsKeyIsOpened_failsTheSignature() throws {
            let store = ScriptedStore()
            let keys = keys(store)
            let signer = try keys.signer(of: authority.identity("alice", in: keys))
            store.fail(.neverAnswers, .every, on: [.select])
            let channel = EmbeddedChannel()
            let signature = TLSPrivateKey(signer).sign(
                channel: channel, algorithm: .ecdsaSecp256R1Sha256, data: ByteBuffer(string: "handshake"))
            _ = try channel.finish(acceptAlreadyClosed: true)
            let error = #expect(throws: KeychainError.self) { try signature.wait() }
            #expect(error?.reason == .cancelled)
            store.reset()
        }

        @Test func key_askedForWhatItCannot_failsTheOperation() throws {
            let keys = keys(MemoryStore())
            let key = TLSPrivateKey(try keys.signer(of: authority.identity("alice", "rsa", in: keys)))
            let (channel, data) = (EmbeddedChannel(), ByteBuffer(string: "handshake"))
            let results = [
                key.sign(channel: channel, algorithm: .rsaPkcs1Sha1, data: data),
                key.decrypt(channel: channel, data: data),
            ]
            for result in results {
                let error = #expect(throws: KeychainError.self) { try result.wait() }
                #expect(error?.reason == .unsupported)
            }
            _ = try channel.finish(acceptAlreadyClosed: true)
        }
    }
#endif
