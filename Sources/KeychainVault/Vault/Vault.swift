// SPDX-License-Identifier: Apache-2.0
// The embedded encrypted vault: a store over SQLite.

// Folders, from top to bottom:
//
// - Backup: backing up and restoring a vault
// - Examination: status and problems of a vault, and repairs
// - Rotation: new keys for all items, and removing protectors
// - Vault: the calls of an item store, each as one transaction; creating, unlocking and observing a vault
// - Session: an open vault: its connections, its keys, and its head during a transaction
// - Changes: waiting for changes by any process
// - Head: the expected state of a vault, so that removed or restored rows are noticed
// - Lock: the keys that are open to this process, and where they are kept
// - Items: items as sealed rows, and the search for them
// - Protectors: opening and changing the keybag, one type for each kind of secret
// - Keys: the keys that the keybag holds, opened
// - Keybag: the format of the keybag
// - Database: SQLite: files, connections, tables
// - Location: paths, and private files
// - Basics: reading untrusted bytes, and parts of messages

import Foundation
public import KeychainEngine
import SecretMemory

/// An encrypted store in one SQLite file, shared by all processes of a user, without a daemon.
///
/// It is opened at the first call and created at the first write; a search in a vault that does not exist yet finds
/// nothing. Every call is one transaction, durable when it returns.
///
/// ```swift
/// let vault = Vault.at(try .fromEnvironment(ProcessEnvironment.current))
/// let engine = Engine(store: vault)
/// ```
///
/// Does not protect against programs that run as the same user and can read the device key, nor against root.
public final class Vault: TransactionalStore, UserVerifier {
    public let location: VaultLocation
    public let settings: VaultSettings
    public let rateLimit = RateLimit()
    let changes = VaultChanges()
    package let writes = WriteQueue()
    private let session = Guarded<Session?>(nil)
    /// The same session, without the lock above, which is held while the files are checked and opened.
    private let fresh = FreshSession()

    /// The vault of a folder; the same object for the same location, since a process must open a file only once.
    ///
    /// - Parameter settings: Used only by the first call for a location.
    public static func at(_ location: VaultLocation, _ settings: VaultSettings = VaultSettings()) -> Vault {
        all.withLock { vaults in
            if let present = vaults.first(where: { $0.location == location }) { return present }
            let vault = Vault(location, settings)
            vaults.append(vault)
            return vault
        }
    }

    /// How old the last check of the vault's files may be before a read; a write always checks.
    static let lookInterval = Duration.milliseconds(20)

    private static let all = Guarded<[Vault]>([])

    /// For tests that need a vault opened again; otherwise use ``at(_:)``.
    package init(_ location: VaultLocation, _ settings: VaultSettings = VaultSettings()) {
        self.location = location
        self.settings = settings
    }

    /// The same for the tests of packages that depend on this one.
    @_spi(Wrappers) public static func unshared(_ location: VaultLocation, _ settings: VaultSettings) -> Vault {
        Vault(location, settings)
    }

    /// Closes every vault that this process has open; each opens again when it is next used.
    ///
    /// Call it before a program ends to move the last changes out of SQLite's WAL, so that the folder can be read even
    /// on a read-only medium. Without it nothing is lost.
    public static func closeAll() throws(KeychainError) {
        for vault in all.withLock({ $0 }) { try vault.close() }
    }

    func close() throws(KeychainError) {
        guard !session.isHeldByParent else { throw Self.forkedInUse }
        try session.withLock { (session) throws(KeychainError) in
            fresh.remove()
            // If another thread is in a call, the connections are closed when that call ends.
            guard isKnownUniquelyReferenced(&session) else {
                if !(session?.hasLostCompanions ?? false) { session = nil }
                return
            }
            defer { session = nil }
            try session?.close()
        }
    }

    /// Makes the next call open the vault again; connections in use are closed when their call ends.
    func dropSession() {
        session.withLock { session in
            fresh.remove()
            if !(session?.hasLostCompanions ?? false) { session = nil }
        }
    }

    // MARK: - Opening

    /// The open vault; `nil` if there is none yet.
    ///
    /// - Parameter age: How old the last check of its files may be.
    func openSession(age: Duration = .zero) throws(KeychainError) -> Session? {
        guard !session.isHeldByParent else { throw Self.forkedInUse }
        return try session.withLock { (session) throws(KeychainError) in
            if let session, try session.isCurrent(age: age) {
                publish(session)
                return session
            }
            fresh.remove()
            if let parents = session, !parents.isOfThisProcess, !parents.closeInChild() { throw Self.forkedInUse }
            if session?.hasLostCompanions ?? false, !isKnownUniquelyReferenced(&session) {
                throw .replacedCompanions(location)
            }
            session = nil
            session = try Self.openExisting(location, settings)
            PausePoint.sessionOpened.reached()
            if let session { publish(session) }
            return session
        }
    }

    static let forkedInUse = KeychainError(
        .unavailable,
        "This process was forked while its parent was using the vault. Fork before the vault is used, or run a new program."
    )

    private func publish(_ session: Session) {
        guard let look = session.lookMoment else { return }
        fresh.set(session, look)
    }

    /// The open vault, if its files were checked recently. Does not wait for other calls, and makes no call of the file
    /// system.
    func freshSession() -> Session? { fresh.session }

    /// The same, but `nil` for the reader that should check the files early, with ``renewSession()``.
    func freshSessionOrTurn() -> Session? { fresh.sessionOrTurn }

    func renewSession() throws(KeychainError) -> Session? {
        if let session = fresh.sessionUnlessDue { return session }
        return try openSession(age: Self.lookInterval / 2)
    }

    /// Makes the next read check the files, however recent the last check is: an observer is notified of a change only
    /// once. If the vault was locked, the keys are dropped at once.
    func lookAgain() {
        session.withLock { session in
            fresh.remove()
            session?.lookAgain()
        }
    }

    private static func openExisting(
        _ location: VaultLocation, _ settings: VaultSettings
    ) throws(KeychainError) -> Session? {
        guard try FileSafety.checkFolder(location.folder) else { return nil }
        try FileSafety.checkCompanions(location)
        _ = try FileSafety.checkFile(location.lockFile)
        guard let status = try VaultMarker.checkDatabase(location) else { return nil }
        return try Session(location, settings, identity: FileIdentity(status))
    }

    /// Closes the session if the keybag has changed since it was opened.
    ///
    /// - Returns: Whether it had changed, so that another attempt may succeed.
    func closeIfKeybagChanged(_ session: Session) throws(KeychainError) -> Bool {
        guard try !session.hasCurrentKeybag() else { return false }
        try close()
        return true
    }
}
