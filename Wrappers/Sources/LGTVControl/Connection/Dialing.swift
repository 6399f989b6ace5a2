// SPDX-License-Identifier: Apache-2.0
// Wakes a television, and tries to connect until it answers.

#if LGTVControl
    import Foundation
    import NIOCore
    import NIOPosix

    struct Dialing: Sendable {
        let options: LGTVControlManager.Options
        let host: String
        let mac: MACAddress
        /// The certificate that the television had before; `nil` if none is known.
        let pin: Data?

        /// A television that is starting may open its unencrypted port first.
        private static let patienceWithOpenPort = 3

        /// - Throws: ``ConnectionError``, or `CancellationError`.
        nonisolated(nonsending) func connect() async throws -> Connection {
            let deadline = ContinuousClock.now + options.connectTimeout
            // An attempt with too little time would only report its own timeout.
            let lastStart = deadline - options.retryInterval
            var timesOnlyOpen = 0
            while true {
                let problem = try await wakingProblem()
                let left = ContinuousClock.now.duration(to: deadline)
                do {
                    return try await attempt(max(options.retryInterval, min(left, options.attemptTimeout)))
                } catch DialFailure.final(let error) where error.reason == .downgraded {
                    timesOnlyOpen += 1
                    if timesOnlyOpen >= Self.patienceWithOpenPort || .now >= lastStart { throw error }
                } catch DialFailure.final(let error) {
                    throw error
                } catch let failure as DialFailure {
                    timesOnlyOpen = 0
                    if .now >= lastStart { throw unreachable(failure, problem) }
                }
                try await Task.sleep(for: options.retryInterval)
            }
        }

        /// A packet that cannot be sent does not prevent the connection: the television may be on.
        private nonisolated(nonsending) func wakingProblem() async throws -> String? {
            do {
                try await WakeOnLAN(options).send(mac, host)
                return nil
            } catch let error as CancellationError {
                throw error
            } catch {
                return PrintableText.reason(of: error)
            }
        }

        private func unreachable(_ failure: DialFailure, _ problem: String?) -> ConnectionError {
            let ports = "\(options.tlsPort) and \(options.port)"
            return ConnectionError(
                .unreachable,
                "The TV at \(host) could not be reached at ports \(ports): \(failure.words). Check that it is plugged in "
                    + "and in the same network, and that it allows apps to connect and to turn it on."
                    + (problem.map { " \($0)" } ?? ""))
        }

        // MARK: - One attempt

        /// Connects with encryption. It uses an unencrypted connection only if the encrypted port is closed and no
        /// certificate is known.
        ///
        /// - Parameter time: The timeout of each step, from the beginning of the step. With one timeout for all steps,
        ///   a program whose threads are delayed for seconds would have no time left for the next step.
        private nonisolated(nonsending) func attempt(_ time: Duration) async throws -> Connection {
            do {
                return try await open(options.tlsPort, isEncrypted: true, time)
            } catch DialFailure.nobodyListens {
                guard pin != nil else { return try await open(options.port, isEncrypted: false, time) }
                throw try await isOpenPortTaken(time) ? DialFailure.final(.downgraded) : .nobodyListens
            }
        }

        private nonisolated(nonsending) func open(
            _ port: Int, isEncrypted: Bool, _ time: Duration
        ) async throws -> Connection {
            let address = try await resolved(port, time)
            return try await Handshake(isEncrypted: isEncrypted, pin: pin).open(address, host: host, by: .now + time)
        }

        /// Connects, sends nothing, and closes.
        private nonisolated(nonsending) func isOpenPortTaken(_ time: Duration) async throws -> Bool {
            let address = try await resolved(options.port, time)
            let taken = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton).connect(to: address)
            taken.whenSuccess { $0.close(promise: nil) }
            do {
                _ = try await taken.value(by: .now + time, late: ConnectionError.noAnswer)
                return true
            } catch let error as CancellationError {
                throw error
            } catch {
                return false
            }
        }

        /// Looks up the name on its own thread, because the lookup blocks.
        private nonisolated(nonsending) func resolved(
            _ port: Int, _ time: Duration
        ) async throws -> SocketAddress {
            let host = host
            let looked = NIOThreadPool.singleton.runIfActive(eventLoop: MultiThreadedEventLoopGroup.singleton.any()) {
                try SocketAddress.makeAddressResolvingHost(host, port: port)
            }
            do {
                return try await looked.value(
                    by: .now + time, late: DialFailure.notYet("its name was not found in time"))
            } catch let error as SocketAddressError {
                throw DialFailure.notYet("its address was not found (\(PrintableText.of("\(error)")))")
            }
        }
    }
#endif
