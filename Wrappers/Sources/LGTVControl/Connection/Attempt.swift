// SPDX-License-Identifier: Apache-2.0
// One call to connect or to enter a code: the known credentials, the connection, and saving what comes of it.

#if LGTVControl
    import Foundation
    import KeychainKit

    /// Its result is discarded if everything was ended from outside meanwhile.
    struct Attempt: Sendable {
        let manager: LGTVControlManager
        let era: Int

        private var session: Session { manager.session }
        private var pairings: PairingStore { PairingStore(manager.keychain) }

        // MARK: - Connecting

        /// - Returns: The code that the television asks for; `nil` if it knows this program.
        func connect(_ host: String, _ mac: String, _ address: MACAddress) async throws -> String? {
            if isConnected(host, mac) { return nil }
            session.drop()
            show(.connecting)
            let stored = try await storedPairing()
            let known = stored.flatMap { $0.isOf(mac: mac) ? $0 : nil }
            let dialing = Dialing(options: manager.options, host: host, mac: address, pin: known?.certificate)
            let connection = try await dialing.connect()
            // Weak, because the manager's session may keep it until a code is entered.
            let registration = Registration(connection: connection, options: manager.options) { [weak manager, era] in
                if let manager { Attempt(manager: manager, era: era).show(.pairingRequired(code: nil)) }
            }
            let new = Pairing(
                credentials: TVCredentials(ipAddress: host, macAddress: mac), certificate: connection.certificate)
            return try await closing(connection) {
                let outcome = try await registration.run(key: known?.key(for: host))
                return try await proceed(outcome, registration, new, stored)
            }
        }

        private func isConnected(_ host: String, _ mac: String) -> Bool {
            guard let link = session.with({ $0.link }), link.connection.isAlive else { return false }
            return link.credentials.ipAddress == host && MACAddress.areEqual(link.credentials.macAddress, mac)
        }

        private func closing<Result: Sendable>(
            _ connection: Connection, _ body: @Sendable () async throws -> Result
        ) async throws -> Result {
            do {
                return try await body()
            } catch {
                connection.end(.closedHere)
                throw error
            }
        }

        // MARK: - Codes

        func submit(_ code: String) async throws {
            guard let wait = session.with({ $0.wait }) else {
                throw LGTVControlManager.ControlError.missingCredentials
            }
            show(.connecting)
            do {
                let outcome = try await wait.registration.enter(code, wait.inquiry)
                guard try await proceed(outcome, wait.registration, wait.pairing, wait.stored) != nil else { return }
                throw LGTVControlManager.ControlError.invalidPairingCode
            } catch LGTVControlManager.ControlError.invalidPairingCode {
                show(.pairingRequired(code: session.with { $0.wait?.code }))
                throw LGTVControlManager.ControlError.invalidPairingCode
            }
        }

        // MARK: - After registration

        private func proceed(
            _ outcome: Registration.Outcome, _ registration: Registration, _ new: Pairing, _ stored: Pairing?
        ) async throws -> String? {
            switch outcome {
            case .registered(let key):
                var paired = new
                paired.credentials.clientKey = key
                if paired != stored { try await keep(paired) }
                try become(.connected, registration.connection) { state in
                    state.wait = nil
                    state.link = Session.Link(connection: registration.connection, credentials: paired.credentials)
                }
                return nil
            case .wantsCode(let code, let inquiry):
                try become(.pairingRequired(code: code), registration.connection) { state in
                    state.wait = Session.Wait(
                        registration: registration, inquiry: inquiry, pairing: new, stored: stored, code: code)
                }
                return code
            }
        }

        /// Takes over a connection, and observes its end from then on.
        private func become(
            _ status: ConnectionStatus, _ connection: Connection, _ change: (inout Session.State) -> Void
        ) throws {
            try session.with { state in
                guard state.era == era else { throw LGTVControlManager.ControlError.notConnected }
                change(&state)
                manager.board.note(status)
            }
            manager.board.share()
            connection.whenEnded { [weak manager, weak connection] in
                if let connection { manager?.hasLost(connection) }
            }
        }

        private func show(_ status: ConnectionStatus) {
            session.with { state in
                if state.era == era { manager.board.note(status) }
            }
            manager.board.share()
        }

        // MARK: - The keychain

        private func storedPairing() async throws -> Pairing? {
            do {
                return try await manager.failure.recorded { try await pairings.pairing() }
            } catch {
                throw ConnectionError.keychain(
                    "The credentials of the TV could not be read, so it was not asked to pair again.", error,
                    "Correct that, or call clearCredentials() and pair again.")
            }
        }

        private func keep(_ pairing: Pairing) async throws {
            do {
                try await manager.failure.recorded { try await pairings.save(pairing) }
            } catch {
                throw ConnectionError.keychain(
                    "The TV accepted, but its key could not be stored.", error,
                    "Correct that and connect again. The TV then asks again.")
            }
        }
    }

    extension Pairing {
        /// The key, if it may be sent to this device. At a new address the certificate must identify the television.
        fileprivate func key(for host: String) -> String? {
            guard let key = credentials.clientKey, !key.isEmpty else { return nil }
            return certificate != nil || credentials.ipAddress == host ? key : nil
        }
    }

    extension ConnectionError {
        fileprivate static func keychain(_ what: String, _ error: any Error, _ advice: String) -> any Error {
            switch error {
            case let error as KeychainKit.KeychainError where error.reason == .cancelled && Task.isCancelled:
                CancellationError()
            case let error as KeychainKit.KeychainError:
                ConnectionError(.keychain, "\(what) \(error.message) \(advice)", error)
            case let error as JSON.Failure:
                ConnectionError(.keychain, "\(what) \(error.cause.message) \(advice)", error.cause)
            default: error
            }
        }
    }
#endif
