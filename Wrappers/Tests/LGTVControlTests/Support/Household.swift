// SPDX-License-Identifier: Apache-2.0
// A manager with a keychain in memory, made for a simulated television.

#if LGTVControl
    import Foundation
    import KeychainEngine
    import KeychainKit
    import LGTVControl
    import Synchronization
    import WrapperStores

    /// A port without a listener.
    let deafPort = 1
    let mac = "02:00:5E:10:00:01"

    final class Household: Sendable {
        let store = MemoryStore()
        let manager: LGTVControlManager
        /// Televisions stay on as long as the household is there.
        private let televisions = Mutex<[TVSimulator]>([])

        init(
            tls: TVSimulator? = nil, open: TVSimulator? = nil,
            _ change: (inout LGTVControlManager.Options) -> Void = { _ in }
        ) {
            manager = Self.manager(tls?.port, open?.port, change).using(store)
            keep(tls, open)
        }

        convenience init(_ tv: TVSimulator, _ change: (inout LGTVControlManager.Options) -> Void = { _ in }) {
            self.init(tls: tv, change)
        }

        /// With something else than a television.
        init(tlsPort: Int?, port: Int? = nil, _ change: (inout LGTVControlManager.Options) -> Void = { _ in }) {
            manager = Self.manager(tlsPort, port, change).using(store)
        }

        private func keep(_ televisions: TVSimulator?...) {
            self.televisions.withLock { $0 += televisions.compactMap(\.self) }
        }

        /// Another manager over the same keychain, as a program has it that is started again.
        func restarted(
            tls: TVSimulator? = nil, open: TVSimulator? = nil,
            _ change: (inout LGTVControlManager.Options) -> Void = { _ in }
        ) -> LGTVControlManager {
            keep(tls, open)
            return Self.manager(tls?.port, open?.port, change).using(store)
        }

        private static func manager(
            _ tlsPort: Int?, _ port: Int?, _ change: (inout LGTVControlManager.Options) -> Void
        ) -> LGTVControlManager {
            var options = LGTVControlManager.Options()
            (options.tlsPort, options.port) = (tlsPort ?? deafPort, port ?? deafPort)
            // These addresses must not reach real devices.
            (options.broadcastAddress, options.wakePort) = ("127.0.0.1", deafPort)
            // Long, so that a machine with other work never makes a try fail that would succeed.
            (options.connectTimeout, options.attemptTimeout) = (.seconds(600), .seconds(600))
            (options.promptTimeout, options.requestTimeout) = (.seconds(600), .seconds(600))
            options.retryInterval = .milliseconds(20)
            options.sharesStatus = false
            change(&options)
            return LGTVControlManager(options: options)
        }

        @discardableResult
        func connect() async throws -> String? { try await manager.connect(ip: "127.0.0.1", mac: mac) }

        var storedKey: String? {
            get throws { try manager.storedCredentials()?.clientKey }
        }

        var items: SecretStore {
            SecretStore(service: LGTVControlManager.Constants.keychainService, store: store)
        }

        var storedCertificate: Data? {
            get throws { try items.read(Data.self, for: "default.certificate") }
        }
    }

    extension LGTVControlManager {
        /// Returns when the status is that.
        func reaches(_ status: ConnectionStatus) async {
            for await update in statusUpdates where update == status { return }
        }
    }

    /// Why connecting, or whatever it is, fails.
    func reason(_ body: () async throws -> Any?) async -> ConnectionError.Reason? {
        (await failure(body) as? ConnectionError)?.reason
    }
#endif
