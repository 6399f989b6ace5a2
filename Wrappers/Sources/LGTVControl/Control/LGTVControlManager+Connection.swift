// SPDX-License-Identifier: Apache-2.0
// Connecting to the television, and sending commands to it.

#if LGTVControl
    import Foundation
#endif

extension LGTVControlManager {
    // MARK: - Connecting

    /// Wakes the television, connects to it, and pairs with it if it does not know this program.
    ///
    /// ```swift
    /// try await manager.connect(ip: "192.0.2.14", mac: "02:00:5E:10:00:01")
    /// ```
    ///
    /// With credentials in the keychain, the user is not asked. Otherwise, or if the television has forgotten them, a
    /// person has to accept in front of the television; meanwhile the status is `pairingRequired`. The new key is then
    /// stored. If the manager is already connected to this television, the call returns at once, unless the last
    /// command was left unanswered. Calls run one after another.
    ///
    /// - Parameters:
    ///   - ip: The television's address, or its host name.
    ///   - mac: Six pairs of hexadecimal digits with `:` or `-` between them. It identifies the credentials.
    /// - Returns: The code that the television asks for, to be entered with ``submitPairingCode(_:)``; empty if the
    ///   television only shows it; `nil` if connected.
    /// - Throws: ``ConnectionError``, ``ControlError/pairingFailed``, ``ControlError/notConnected`` if ``disconnect()``
    ///   was called meanwhile, `WakeOnLANError.invalidMAC`, `CancellationError`.
    @discardableResult
    public nonisolated(nonsending) func connect(ip: String, mac: String) async throws -> String? {
        #if LGTVControl
            let (mac, address) = (mac.uppercased(), try MACAddress(mac))
            try Self.checkHost(ip)
            return try await attempt { try await $0.connect(ip, mac, address) }
        #else
            throw ConnectionError.withoutTrait
        #endif
    }

    /// Enters the code that a television asks for.
    ///
    /// ```swift
    /// if let code = try await manager.connect(ip: ip, mac: mac) {
    ///     try await manager.submitPairingCode(try await entered(code))
    /// }
    /// ```
    ///
    /// - Throws: ``ControlError/invalidPairingCode``, after which another code can be entered;
    ///   ``ControlError/missingCredentials`` if no television asks for one; otherwise as ``connect(ip:mac:)``.
    public nonisolated(nonsending) func submitPairingCode(_ code: String) async throws {
        #if LGTVControl
            try await attempt { try await $0.submit(code) }
        #else
            throw ConnectionError.withoutTrait
        #endif
    }

    /// Ends the connection, and every call in progress that connects or sends.
    public func disconnect() {
        #if LGTVControl
            session.end()
        #endif
        board.note(.disconnected)
        board.share()
    }

    /// Wakes a television that is off, without waiting for it. ``connect(ip:mac:)`` wakes it and waits.
    ///
    /// ```swift
    /// try await manager.wakeTV(mac: "02:00:5E:10:00:01")
    /// ```
    ///
    /// - Throws: ``WakeOnLANError``.
    public nonisolated(nonsending) func wakeTV(mac: String, ip: String? = nil) async throws {
        try await WakeOnLAN(options).send(macAddress: mac, ipAddress: ip)
    }

    // MARK: - Commands

    /// Sends a command to the television.
    ///
    /// ```swift
    /// try await manager.sendCommand("ssap://audio/setVolume", parameters: ["volume": 12])
    /// ```
    ///
    /// - Parameter parameters: Values that JSON can represent: text, numbers, truth values, arrays and dictionaries.
    /// - Throws: ``ControlError/notConnected``; ``ConnectionError``, such as `refused` with the text of the television.
    public nonisolated(nonsending) func sendCommand(_ command: String, parameters: [String: Any]? = nil) async throws {
        #if LGTVControl
            _ = try await answer(command, parameters)
        #else
            throw ConnectionError.withoutTrait
        #endif
    }

    /// Sends a request to the television, and returns its answer.
    ///
    /// ```swift
    /// let volume = try await manager.request("ssap://audio/getVolume", returning: Volume.self)
    /// ```
    ///
    /// - Parameter type: The type of the answer's payload.
    /// - Throws: As ``sendCommand(_:parameters:)``; `invalidResponse` if the payload is not of this type.
    public nonisolated(nonsending) func request<Response: Decodable>(
        _ command: String, parameters: [String: Any]? = nil, returning type: Response.Type
    ) async throws -> Response {
        #if LGTVControl
            let answer = try await answer(command, parameters)
            do {
                return try JSONDecoder().decode(Envelope<Response>.self, from: answer.bytes).payload
            } catch {
                throw ConnectionError(.invalidResponse, "The answer of the TV is not a \(type).")
            }
        #else
            throw ConnectionError.withoutTrait
        #endif
    }

    #if LGTVControl
        private nonisolated(nonsending) func answer(
            _ command: String, _ parameters: [String: Any]?
        ) async throws -> Message {
            let parameters = try Requests.parameters(parameters)
            guard let link = session.with({ $0.link }) else { throw ControlError.notConnected }
            return try await link.connection.ask(command, parameters, by: .now + options.requestTimeout).checked()
        }

        /// Characters that would end up in the head of the HTTP request.
        private static func checkHost(_ host: String) throws(ConnectionError) {
            let isFine = host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"/@?#[]\\\"".utf8.contains($0) }
            guard isFine, (1...255).contains(host.utf8.count) else {
                throw ConnectionError(.invalidParameter, "The address of the TV is not valid. Write it as 192.0.2.14.")
            }
        }
    #endif
}

#if LGTVControl
    private struct Envelope<Payload: Decodable>: Decodable {
        let payload: Payload
    }
#endif
