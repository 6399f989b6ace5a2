// SPDX-License-Identifier: Apache-2.0
// Whatever listens at the address, and whatever it says: a clear error, in time.

#if LGTVControl
    import Foundation
    import KeychainKit
    import LGTVControl
    import Testing
    import WrapperStores

    @Suite("Misbehaviour", .timeLimit(.minutes(60)))
    struct MisbehaviourTests {
        struct Row: CustomTestStringConvertible, Sendable {
            let testDescription: String
            let frames: [SimulatedFrame]
            let reason: ConnectionError.Reason

            init(_ name: String, _ reason: ConnectionError.Reason, _ frames: SimulatedFrame...) {
                (testDescription, self.reason, self.frames) = (name, reason, frames)
            }
        }

        static let rows = [
            Row("nothing", .timedOut),
            Row("a closed connection", .connectionLost, .drop),
            Row("a goodbye", .connectionLost, .close),
            Row("no JSON", .invalidResponse, .text("Hello!")),
            Row("no object", .invalidResponse, .text("[1, 2]")),
            Row("half an object", .invalidResponse, .text(#"{"type":"registered","id":"ID""#)),
            Row("no text", .invalidResponse, .brokenText),
            Row("depth without end", .invalidResponse, .text(String(repeating: #"{"a":"#, count: 100_000))),
            Row("lists without end", .invalidResponse, .text(#"{"a":"# + String(repeating: "[", count: 500_000))),
            Row("a message that is too long", .invalidResponse, .long(1 << 20 + 1)),
            Row("the promise of two gigabytes", .invalidResponse, .announced(length: 1 << 31)),
            Row("the promise of all there is", .invalidResponse, .announced(length: .max)),
            Row("a fragment of nothing", .invalidResponse, .strayFragment),
            Row("more fragments than a message has", .invalidResponse, .fragments(Array(repeating: "a", count: 2000))),
            Row("no key", .invalidResponse, .text(#"{"type":"registered","id":"ID","payload":{}}"#)),
            Row(
                "an empty key", .invalidResponse, .text(#"{"type":"registered","id":"ID","payload":{"client-key":""}}"#)
            ),
            Row(
                "a key that is a number", .invalidResponse,
                .text(#"{"type":"registered","id":"ID","payload":{"client-key":1}}"#)),
            Row("bytes that are no message", .timedOut, .binary([0, 1, 2])),
            Row(
                "a message for nobody", .timedOut,
                .text(#"{"type":"registered","id":"x","payload":{"client-key":"k"}}"#)),
            Row("a message of no kind", .timedOut, .text(#"{"type":"dance","id":"ID","payload":7}"#)),
            Row("types that are wrong", .timedOut, .text(#"{"type":1,"id":"ID","payload":["pin"],"error":{}}"#)),
            Row("an empty object", .timedOut, .text("{}")),
        ]

        @Test(arguments: rows)
        func registration_answeredWith_endsInAnErrorInTime(row: Row) async throws {
            let household = Household(try await TVSimulator(.misbehaves(row.frames))) {
                $0.requestTimeout = .milliseconds(row.reason == .timedOut ? 200 : 100_000)
            }
            #expect(await reason { try await household.connect() } == row.reason)
            #expect(try household.manager.storedCredentials() == nil)
            guard case .error = household.manager.getConnectionStatus() else {
                return #expect(Bool(false), "the status is no error")
            }
        }

        @Test func answers_thatMeanNothing_doNotExtendTheDeadline() async throws {
            let tv = try await TVSimulator(.misbehaves([.text(#"{"type":"response","id":"ID"}"#)]))
            let household = Household(tv) { $0.requestTimeout = .milliseconds(300) }
            let chatting = Task {
                while !Task.isCancelled {
                    tv.sendToEverybody([.text(#"{"type":"response","id":"register_1"}"#)])
                    try await Task.sleep(for: .milliseconds(20))
                }
            }
            #expect(await reason { try await household.connect() } == .timedOut)
            chatting.cancel()
        }

        @Test func messageInFragments_isUnderstood() async throws {
            let parts = [#"{"type":"regis"#, #"tered","id":"ID","pay"#, #"load":{"client-key":"in three parts"}}"#]
            let household = Household(try await TVSimulator(.misbehaves([.fragments(parts)])))
            try await household.connect()
            #expect(try household.storedKey == "in three parts")
        }

        @Test func longMessageWithinTheLimit_isUnderstood() async throws {
            let padding = String(repeating: "x", count: 900_000)
            let text = #"{"type":"registered","id":"ID","payload":{"client-key":"k","padding":"\#(padding)"}}"#
            let household = Household(try await TVSimulator(.misbehaves([.text(text)])))
            try await household.connect()
            #expect(try household.storedKey == "k")
        }

        @Test func answer_withoutAName_isTakenForThatToTheRegistration() async throws {
            let text = #"{"type":"registered","payload":{"client-key":"k"}}"#
            let household = Household(try await TVSimulator(.misbehaves([.text(text)])))
            try await household.connect()
            #expect(try household.storedKey == "k")
        }

        @Test func ping_isAnswered() async throws {
            let tv = try await TVSimulator(
                .misbehaves([.ping, .text(#"{"type":"registered","id":"ID","payload":{"client-key":"k"}}"#)]))
            let household = Household(tv)
            try await household.connect()
            // The answer was written before the request is, and so is heard before it.
            tv.setManners(.acceptsAtOnce)
            try await household.manager.sendCommand("ssap://system/turnOff")
            #expect(tv.heard.contains("pong: are you there"))
        }

        // MARK: - No television at all

        struct Server: CustomTestStringConvertible, Sendable {
            let testDescription: String
            let reason: ConnectionError.Reason
            let text: String?
            let closes: Bool
        }

        static let servers = [
            Server(testDescription: "silence", reason: .unreachable, text: nil, closes: false),
            Server(testDescription: "a closed door", reason: .unreachable, text: nil, closes: true),
            Server(testDescription: "a web page", reason: .invalidResponse, text: page, closes: false),
            Server(
                testDescription: "another protocol", reason: .invalidResponse, text: "SSH-2.0-OpenSSH_9.9\r\n",
                closes: false),
            Server(testDescription: "a wrong proof", reason: .invalidResponse, text: wrongProof, closes: false),
            Server(
                testDescription: "headers without end", reason: .invalidResponse,
                text: "HTTP/1.1 101 Switching Protocols\r\nX: " + String(repeating: "x", count: 3_000_000),
                closes: false),
        ]

        private static let page = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
        private static let wrongProof =
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n\r\n"

        @Test(arguments: servers, [true, false])
        func server_thatIsNoTV_isAnErrorInTime(server: Server, isEncrypted: Bool) async throws {
            let odd = try await OddServer(says: server.text, thenCloses: server.closes)
            let household = Household(tlsPort: isEncrypted ? odd.port : nil, port: isEncrypted ? nil : odd.port) {
                $0.attemptTimeout = .milliseconds(server.reason == .unreachable ? 200 : 100_000)
                $0.connectTimeout = .milliseconds(server.reason == .unreachable ? 500 : 100_000)
            }
            #expect(await reason { try await household.connect() } == server.reason)
            withExtendedLifetime(odd) {}
        }

        @Test func nobody_atTheAddress_isUnreachableWithAdvice() async throws {
            let household = Household(tlsPort: nil) { $0.connectTimeout = .milliseconds(100) }
            let error = await failure { try await household.connect() } as? ConnectionError
            #expect(error?.reason == .unreachable)
            #expect(error?.message.contains("plugged in") == true)
        }

        @Test(arguments: [
            "", "a b", "192.0.2.14\r\nX: y", "192.0.2.14/..", "\u{0}", String(repeating: "a", count: 300),
        ])
        func address_thatCannotBeOne_isRefused(host: String) async throws {
            let household = Household(tlsPort: nil)
            #expect(await reason { try await household.manager.connect(ip: host, mac: mac) } == .invalidParameter)
        }

        @Test func macAddress_thatCannotBeOne_isRefused() async throws {
            let household = Household(tlsPort: nil)
            await #expect(throws: WakeOnLANError.invalidMAC) {
                try await household.manager.connect(ip: "127.0.0.1", mac: "02:00:5E:10:00")
            }
        }
    }
#endif
