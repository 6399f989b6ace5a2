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
/// Credentials work in every build. The connection needs swift-nio, and so the trait `LGTVControl` of the package; without
/// it what would connect throws a ``ConnectionError`` that says so.
///
/// Does not protect the first connection to a television: whoever answers at its address is taken for it, until the person in
/// front of the television accepts. Afterwards its certificate has to stay the same.
public final class LGTVControlManager: Sendable {
    /// The manager of this program, with the keychain of its user.
    public static let shared = LGTVControlManager()

    /// Where things are kept.
    public struct Constants {
        /// The service of the keychain items.
        public static let keychainService = "com.DaraConsultingInc.LGTVRemoteWidget.credentials"
        /// The account of the credentials. The certificate of the television is beside it, with `.certificate` appended.
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

    /// A manager of one's own, for other ports, addresses and times than ``shared`` has.
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

    /// A manager with the same options over another store, for tests without a keychain. Its connection is its own.
    ///
    /// ```swift
    /// let manager = LGTVControlManager(options: options).using(MemoryStore())
    /// ```
    ///
    /// - Parameters:
    ///   - store: Where the items are kept.
    ///   - accessGroups: The access groups that may be used; `nil`: all.
    ///   - context: What the user has proven already, and who asks; `nil`: whatever the environment is configured for.
    public func using(
        _ store: any ItemStore, accessGroups: AccessGroups? = nil, context: AuthenticationContext? = nil
    ) -> LGTVControlManager {
        LGTVControlManager(options, ChosenKeychain(store, accessGroups: accessGroups, context: context))
    }

    // MARK: - Status

    /// How far the connection of this manager is. That of another program is in the app group's defaults.
    public func getConnectionStatus() -> ConnectionStatus { board.status }

    /// The status, now and whenever it changes.
    ///
    /// ```swift
    /// for await status in manager.statusUpdates {
    ///     show(status)
    /// }
    /// ```
    ///
    /// Who does not keep up misses what was in between, never the last. It ends with the manager.
    public var statusUpdates: AsyncStream<ConnectionStatus> { board.updates() }
}
