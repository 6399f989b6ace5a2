// SPDX-License-Identifier: Apache-2.0
// The remote control: one television, its credentials in the keychain, and the connection to it.

@_spi(Wrappers) public import KeychainKit

/// Pairs with an LG television, keeps its credentials in the keychain, and sends it commands.
///
/// ```swift
/// let manager = LGTVControlManager.shared
/// try await manager.connect(ip: "192.0.2.14", mac: "02:00:5E:10:00:01")
/// try await manager.sendCommand("ssap://audio/volumeUp")
/// ```
///
/// Credentials work in every build. The connection needs swift-nio, and so the package trait `LGTVControl`; without it,
/// calls that connect throw a ``ConnectionError`` that says so.
///
/// Does not protect the first connection to a television: any device that answers at the address is accepted as the
/// television until the person in front of it accepts. Afterwards its certificate must stay the same.
public final class LGTVControlManager: Sendable {
    /// The manager of this program, with the keychain of its user.
    public static let shared = LGTVControlManager()

    /// Where values are stored.
    public struct Constants {
        /// The service of the keychain items.
        public static let keychainService = "com.DaraConsultingInc.LGTVRemoteWidget.credentials"
        /// The account of the credentials. The certificate of the television has the same account with `.certificate`
        /// appended.
        public static let keychainAccount = "default"
        /// The key of the status in the app group's defaults.
        public static let lastStatusKey = "lastConnectionStatus"
    }

    let options: Options
    let keychain: ChosenKeychain
    let board: StatusBoard
    let failure = FailureRecord()
    #if LGTVControl
        let session = Session()
    #endif

    /// A manager with other ports, addresses and timeouts than ``shared``.
    ///
    /// ```swift
    /// let manager = LGTVControlManager(options: options)
    /// ```
    public convenience init(options: Options = Options()) { self.init(options, ChosenKeychain()) }

    private init(_ options: Options, _ keychain: ChosenKeychain) {
        (self.options, self.keychain) = (options, keychain)
        board = StatusBoard(shared: options.sharesStatus ? .shared : nil)
    }

    #if LGTVControl
        deinit { session.end() }
    #endif

    /// A manager with the same options over another store, for tests without a keychain. It has its own connection.
    ///
    /// ```swift
    /// let manager = LGTVControlManager(options: options).using(MemoryStore())
    /// ```
    ///
    /// - Parameters:
    ///   - store: The store of the items.
    ///   - accessGroups: The access groups that may be used; `nil`: all.
    ///   - context: What the user has proven already, and how to ask them; `nil`: as the environment is configured.
    public func using(
        _ store: any ItemStore, accessGroups: AccessGroups? = nil, context: AuthenticationContext? = nil
    ) -> LGTVControlManager {
        LGTVControlManager(options, ChosenKeychain(store, accessGroups: accessGroups, context: context))
    }

    // MARK: - Status

    /// The state of this manager's connection. The state of other programs is in the app group's defaults.
    public func getConnectionStatus() -> ConnectionStatus { board.status }

    /// The status, now and after each change.
    ///
    /// ```swift
    /// for await status in manager.statusUpdates {
    ///     show(status)
    /// }
    /// ```
    ///
    /// A slow reader misses intermediate states, never the last one. The sequence ends with the manager.
    public var statusUpdates: AsyncStream<ConnectionStatus> { board.updates() }
}
