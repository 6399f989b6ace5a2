// SPDX-License-Identifier: Apache-2.0
// A television over real sockets: what it listens at, whom it knows, and what it does with what it hears.

#if LGTVControl
    import Foundation
    import NIOCore
    import NIOHTTP1
    import NIOPosix
    import NIOSSL
    import NIOWebSocket
    import Synchronization

    /// Listens at a free port on 127.0.0.1, as long as the object exists.
    final class TVSimulator: Sendable {
        /// How it treats a client that registers.
        enum Manners: Sendable {
            /// Knows no client, and lets a simulated user decide: see ``accept()`` and ``decline()``.
            case prompts
            /// The same, and they accept at once.
            case acceptsAtOnce
            /// Shows a code, and tells it or does not.
            case wantsCode(String, tellsIt: Bool)
            /// Says no.
            case refuses(String)
            /// Does not know old keys, and says so instead of asking again.
            case refusesKeys
            /// Sends these frames, whatever it hears.
            case misbehaves([SimulatedFrame])
        }

        private struct State {
            var manners: Manners
            var knownKeys: Set<String>
            var count = 0
            var heard: [String] = []
            var clients: [SimulatedClient] = []
            var asking: (client: SimulatedClient, id: String)?
            var answers: [String: [SimulatedFrame]] = [:]
            var volume = 7
        }

        private let state: Mutex<State>
        private let server: any Channel

        /// - Parameter certificate: `nil`: an open connection.
        init(
            _ manners: Manners = .acceptsAtOnce, certificate: TestOnlyCertificate? = .first,
            knownKeys: Set<String> = [],
            host: String = "127.0.0.1", port: Int = 0
        ) async throws {
            state = Mutex(State(manners: manners, knownKeys: knownKeys))
            let encryption = try certificate?.serverContext()
            let owner = WeakTV()
            server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let pipeline = channel.pipeline.syncOperations
                        if let encryption { try pipeline.addHandler(NIOSSLServerHandler(context: encryption)) }
                        try pipeline.configureHTTPServerPipeline(
                            withServerUpgrade: (upgraders: [Self.upgrade(owner)], { _ in }))
                    }
                }
                .bind(host: host, port: port).get()
            owner.set(self)
        }

        deinit { server.close(promise: nil) }

        var port: Int { server.localAddress?.port ?? 0 }

        private static func upgrade(_ owner: WeakTV) -> NIOWebSocketServerUpgrader {
            NIOWebSocketServerUpgrader(maxFrameSize: 1 << 20) { channel, _ in
                channel.eventLoop.makeSucceededFuture([:])
            } upgradePipelineHandler: { channel, _ in
                channel.eventLoop.makeCompletedFuture {
                    guard let tv = owner.tv else { throw ChannelError.ioOnClosedChannel }
                    let client = SimulatedClient(channel)
                    try channel.pipeline.syncOperations.addHandler(ClientHandler(tv, client))
                    tv.state.withLock { $0.clients.append(client) }
                }
            }
        }

        // MARK: - What it heard

        /// The messages so far, as text.
        var heard: [String] { state.withLock { $0.heard } }

        /// How many clients have connected.
        var connectionCount: Int { state.withLock { $0.clients.count } }

        /// The keys that it was shown, one for each registration.
        var shownKeys: [String?] {
            heard.compactMap { JSONText($0) }.filter { $0["type"] == "register" }.map { $0["payload", "client-key"] }
        }

        var volume: Int { state.withLock { $0.volume } }

        // MARK: - In front of it

        /// Whether it shows a prompt that nobody has answered.
        var isAsking: Bool { state.withLock { $0.asking != nil } }

        func accept() { answerPrompt { ["type": "registered", "payload": ["client-key": newKey()]].frame(id: $0) } }

        func decline() { answerPrompt { ["type": "error", "error": "403 User denied access"].frame(id: $0) } }

        private func answerPrompt(_ frame: (String) -> SimulatedFrame) {
            let asking = state.withLock { state in
                defer { state.asking = nil }
                return state.asking
            }
            if let asking { asking.client.send([frame(asking.id)]) }
        }

        func setManners(_ manners: Manners) { state.withLock { $0.manners = manners } }

        /// Its answer to this request from now on, instead of the right one. `ID` stands for the identifier of the
        /// request.
        func answer(_ uri: String, with frames: [SimulatedFrame]) { state.withLock { $0.answers[uri] = frames } }

        func forgetKeys() { state.withLock { $0.knownKeys = [] } }

        func dropEverybody() {
            for client in state.withLock({ $0.clients }) { client.send([.drop]) }
        }

        func sendToEverybody(_ frames: [SimulatedFrame]) {
            for client in state.withLock({ $0.clients }) { client.send(frames) }
        }

        private func newKey() -> String {
            state.withLock { state in
                state.count += 1
                let key = "key-of-the-simulator-\(state.count)"
                state.knownKeys.insert(key)
                return key
            }
        }

        // MARK: - What it does

        func hear(_ text: String, from client: SimulatedClient) {
            state.withLock { $0.heard.append(text) }
            guard let message = JSONText(text), let id = message["id"] else { return }
            if case .misbehaves(let frames) = state.withLock({ $0.manners }) { return client.send(frames, id) }
            switch message["type"] {
            case "register": register(message["payload", "client-key"], id, client)
            default: obey(message, id, client)
            }
        }

        private func register(_ key: String?, _ id: String, _ client: SimulatedClient) {
            let (manners, isKnown) = state.withLock { ($0.manners, key.map($0.knownKeys.contains) ?? false) }
            if isKnown, let key {
                return client.send([["type": "registered", "payload": ["client-key": key]].frame(id: id)])
            }
            switch manners {
            case .refuses(let words): client.send([["type": "error", "error": words].frame(id: id)])
            case .refusesKeys where key != nil:
                client.send([["type": "error", "error": "403 invalid key"].frame(id: id)])
            default: prompt(manners, id, client)
            }
        }

        private func prompt(_ manners: Manners, _ id: String, _ client: SimulatedClient) {
            var payload: [String: Any] = ["pairingType": "PROMPT", "returnValue": true]
            if case .wantsCode(let code, let tellsIt) = manners {
                payload["pairingType"] = "PIN"
                if tellsIt { payload["pin"] = code }
            }
            state.withLock { $0.asking = (client, id) }
            client.send([["type": "response", "payload": payload].frame(id: id)])
            if case .acceptsAtOnce = manners { accept() }
        }

        private func obey(_ message: JSONText, _ id: String, _ client: SimulatedClient) {
            let uri = message["uri"] ?? ""
            if let frames = state.withLock({ $0.answers[uri] }) { return client.send(frames, id) }
            var payload: [String: Any] = ["returnValue": true]
            switch uri {
            case "ssap://pairing/setPin":
                guard case .wantsCode(message["payload", "pin"] ?? "", _) = state.withLock({ $0.manners }) else {
                    return client.send([["type": "error", "error": "403 wrong pin"].frame(id: id)])
                }
                client.send([["type": "response", "payload": payload].frame(id: id)])
                return accept()
            case "ssap://audio/setVolume":
                state.withLock { $0.volume = Int(message["payload", "volume"] ?? "") ?? $0.volume }
            case "ssap://audio/volumeUp": state.withLock { $0.volume += 1 }
            case "ssap://audio/volumeDown": state.withLock { $0.volume -= 1 }
            case "ssap://audio/getVolume": payload["volume"] = volume
            default: break
            }
            client.send([["type": "response", "payload": payload].frame(id: id)])
        }
    }

    /// The handlers of a server must not keep it.
    private final class WeakTV: Sendable {
        private struct Reference: Sendable { weak var tv: TVSimulator? }
        private let reference = Mutex(Reference())

        var tv: TVSimulator? { reference.withLock { $0.tv } }
        func set(_ tv: TVSimulator) { reference.withLock { $0.tv = tv } }
    }
#endif
