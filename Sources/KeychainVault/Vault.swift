// SPDX-License-Identifier: Apache-2.0
// The embedded encrypted vault: an ItemStore over SQLite.

import Foundation
public import KeychainEngine
import Synchronization

/// An encrypted store in one SQLite file, shared by all processes of a user, without a daemon.
///
/// It is opened at the first call and made at the first write; a search in a vault that does not exist yet finds nothing.
/// Every call is one transaction, durable when it returns.
///
/// ```swift
/// let vault = Vault.at(try .fromEnvironment(ProcessEnvironment.current))
/// let engine = Engine(store: vault)
/// ```
///
/// Does not protect against programs that run as the same user and can read the device key, nor against root.
public final class Vault: ItemStore, UserVerifier {
    public let location: VaultLocation
    public let settings: VaultSettings
    public let rateLimit = RateLimit()
    let changes = VaultChanges()
    private let session = Mutex<Session?>(nil)

    /// The vault of a folder; the same object for the same location, since one process must open one file once.
    ///
    /// - Parameter settings: Have an effect only on the first call for a location.
    public static func at(_ location: VaultLocation, _ settings: VaultSettings = VaultSettings()) -> Vault {
        all.withLock { vaults in
            if let present = vaults[location] { return present }
            let vault = Vault(location, settings)
            vaults[location] = vault
            return vault
        }
    }

    /// How old a look at the vault's files may be before a read; a write always looks.
    static let lookInterval = Duration.milliseconds(20)

    private static let all = Mutex<[VaultLocation: Vault]>([:])

    /// For tests that want a vault opened anew; elsewhere ``at(_:)``.
    package init(_ location: VaultLocation, _ settings: VaultSettings = VaultSettings()) {
        self.location = location
        self.settings = settings
    }

    /// Closes every vault that this process has open; each opens again when it is next used.
    ///
    /// Worth calling before a program ends: it moves the last changes out of SQLite's log, so that the folder can
    /// be read even if it lands on a medium that cannot be written. Nothing is lost without it.
    public static func closeAll() throws(KeychainError) {
        for vault in all.withLock({ Array($0.values) }) { try vault.close() }
    }

    func close() throws(KeychainError) {
        try session.withLock { (session) throws(KeychainError) in
            defer { session = nil }
            // Where another thread is in the midst of a call, the connections end with that.
            guard isKnownUniquelyReferenced(&session) else { return }
            try session?.close()
        }
    }

    /// Has the next call open the vault again; connections in use end with the call that uses them.
    func dropSession() { session.withLock { $0 = nil } }

    // MARK: - Opening

    /// The open vault; `nil` if there is none yet.
    ///
    /// - Parameter age: How long ago it may have been that the files under it were last looked at.
    func openSession(age: Duration = .zero) throws(KeychainError) -> Session? {
        try session.withLock { (session) throws(KeychainError) in
            if let session, try session.isCurrent(age: age) { return session }
            // Closing the parent's connections in a child could take the parent's locks away, so they are kept, unused.
            if let parents = session, !parents.isOfThisProcess { _ = Unmanaged.passRetained(parents) }
            session = nil
            session = try Self.openExisting(location, settings)
            PausePoint.sessionOpened.reached()
            return session
        }
    }

    /// Lets the next read look at the files, however short a time ago the last one did: an observer that is told of a change
    /// is not told again. Keys go at once if it is that the vault was locked.
    func lookAgain() {
        session.withLock { $0?.lookAgain() }
    }

    private static func openExisting(
        _ location: VaultLocation, _ settings: VaultSettings
    ) throws(KeychainError) -> Session? {
        guard try FileSafety.checkFolder(location.folder) else { return nil }
        try FileSafety.checkCompanions(location)
        _ = try FileSafety.checkFile(location.lockFile)
        guard let status = try FileSafety.checkFile(location.databaseFile) else {
            try VaultMarker.checkAbsent(location)
            return nil
        }
        return try Session(location, settings, identity: FileIdentity(status))
    }

    /// Closes the session if the keybag has changed since it was opened.
    ///
    /// - Returns: Whether it had, so that trying again may go better.
    func closeIfKeybagChanged(_ session: Session) throws(KeychainError) -> Bool {
        guard try !session.hasCurrentKeybag(session.reader) else { return false }
        try close()
        return true
    }
}
