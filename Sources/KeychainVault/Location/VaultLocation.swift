// SPDX-License-Identifier: Apache-2.0
// Where the vault and its device key live.

import Foundation
public import KeychainEngine
import SecretMemory

/// The folder of a vault and the file of its device key, both absolute paths.
///
/// ```swift
/// let location = try VaultLocation.fromEnvironment(ProcessEnvironment.current)
/// ```
public struct VaultLocation: Hashable, Sendable {
    /// The folder that holds the vault's files, mode 0700.
    public let folder: String
    /// The file that holds the device key, mode 0600, outside the vault's folder so that a copy of one lacks the other.
    public let deviceKeyFile: String
    /// The folder, mode 0700, in which this machine remembers the newest state of the vault that it has seen, to notice if an older
    /// one is put back. A machine that may not write it does without.
    public let stateFolder: String

    /// - Parameter stateFolder: `nil`: `seen` beside the device key file.
    /// - Throws: `unsafeLocation` if a path is not absolute, or if the key would lie beside what it opens.
    public init(folder: String, deviceKeyFile: String, stateFolder: String? = nil) throws(KeychainError) {
        self.folder = try Self.canonical(folder, "The vault folder")
        self.deviceKeyFile = try Self.canonical(deviceKeyFile, "The device key file")
        let besideKey = FileSafety.parent(of: self.deviceKeyFile) + "/seen"
        self.stateFolder = try Self.canonical(stateFolder ?? besideKey, "The state folder")
        try checkSeparation(folder: self.folder, keyFolder: FileSafety.parent(of: self.deviceKeyFile))
        // The key would become a file where the folder is to be.
        guard !self.folder.utf8.elementsEqual(self.deviceKeyFile.utf8) else {
            throw KeychainError(
                .unsafeLocation,
                "'\(folder)' is given for the vault folder and for the device key. Name another file (KEYCHAIN_DEVICE_KEY)."
            )
        }
    }

    /// Refuses a key beside what it opens, also where symbolic links lead there. To be asked when both folders exist.
    func checkSeparation() throws(KeychainError) {
        let keyFolder = FileSafety.parent(of: deviceKeyFile)
        guard let folder = FileSafety.resolved(folder), let keyFolder = FileSafety.resolved(keyFolder) else { return }
        try checkSeparation(folder: folder, keyFolder: keyFolder)
    }

    private func checkSeparation(folder: String, keyFolder: String) throws(KeychainError) {
        guard (keyFolder + "/").utf8.starts(with: (folder + "/").utf8) else { return }
        throw KeychainError(
            .unsafeLocation,
            "The device key '\(deviceKeyFile)' lies inside the vault folder, where a copy of the vault would "
                + "contain its key. Keep it elsewhere (KEYCHAIN_DEVICE_KEY).")
    }

    /// The user's default vault, or what the environment names instead.
    ///
    /// | variable | names | without it |
    /// |---|---|---|
    /// | `KEYCHAIN_VAULT` | the vault folder | `$XDG_DATA_HOME/swift-keychain`, else `$HOME/.local/share/swift-keychain` |
    /// | `KEYCHAIN_DEVICE_KEY` | the device key file | `$XDG_CONFIG_HOME/swift-keychain/device.key`, else under `$HOME/.config` |
    /// | `XDG_STATE_HOME` | what holds the state folder `swift-keychain` | `$HOME/.local/state`, else ``stateFolder`` is `seen` beside the device key file |
    ///
    /// To be called with ``SecretMemory/ProcessEnvironment/current``, which is empty where the variables are not to be trusted.
    ///
    /// - Throws: `unavailable` if neither these nor `HOME` are set, `unsafeLocation` for paths that are not absolute.
    public static func fromEnvironment(_ environment: [String: String]) throws(KeychainError) -> VaultLocation {
        try VaultLocation(
            folder: path(environment, "KEYCHAIN_VAULT", "XDG_DATA_HOME", ".local/share", "swift-keychain"),
            deviceKeyFile: path(
                environment, "KEYCHAIN_DEVICE_KEY", "XDG_CONFIG_HOME", ".config", "swift-keychain/device.key"),
            stateFolder: stateFolder(environment))
    }

    private static func stateFolder(_ environment: [String: String]) -> String? {
        if let path = environment["XDG_STATE_HOME"], isAbsolute(path) { return path + "/swift-keychain" }
        guard let home = environment["HOME"], isAbsolute(home) else { return nil }
        return home + "/.local/state/swift-keychain"
    }

    /// The XDG base directory rule: a relative path in the XDG variable counts as not set.
    private static func path(
        _ environment: [String: String], _ override: String, _ base: String, _ underHome: String, _ name: String
    ) throws(KeychainError) -> String {
        if let path = environment[override] { return path }
        if let path = environment[base], isAbsolute(path) { return path + "/" + name }
        guard let home = environment["HOME"], isAbsolute(home) else {
            throw KeychainError(
                .unavailable, "Neither \(override), \(base) nor HOME names a folder. " + remedyForNoFolder)
        }
        return home + "/" + underHome + "/" + name
    }

    private static var remedyForNoFolder: String {
        guard ProcessEnvironment.isPrivileged else { return "Set one of them." }
        return "This program has rights that its caller has not, so it heeds no variable: "
            + "give its user (\(geteuid())) a home folder in the user database."
    }

    /// One spelling for one place: a process keeps one vault object for each location.
    ///
    /// Paths are bytes to the system, so they are looked at as such: to Swift's characters a slash before a combining mark
    /// is no slash.
    private static func canonical(_ path: String, _ what: String) throws(KeychainError) -> String {
        let parts = path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }.filter { $0 != "." }
        guard isAbsolute(path), !path.utf8.contains(0), !parts.isEmpty, !parts.contains("..") else {
            throw unusable(path, what, "Give an absolute path below '/', without '..'.")
        }
        // What stands in the environment for bytes that are no UTF-8: it would lead to another folder.
        guard !path.unicodeScalars.contains("\u{FFFD}") else {
            throw unusable(path, what, "Give a path that is valid UTF-8.")
        }
        guard path.utf8.count <= lengthLimit else {
            throw unusable(path, what, "Give a path of at most \(lengthLimit) bytes; SQLite takes no longer ones.")
        }
        return "/" + parts.joined(separator: "/")
    }

    private static func isAbsolute(_ path: String) -> Bool { path.utf8.first == UInt8(ascii: "/") }

    /// SQLite's limit is 512 bytes, for the longest name that it or we make in the folder.
    private static let lengthLimit = 480

    private static func unusable(_ path: String, _ what: String, _ remedy: String) -> KeychainError {
        KeychainError(.unsafeLocation, "\(what) '\(path)' is not usable. \(remedy)")
    }

    /// By bytes: names that look alike to Swift are different files.
    public static func == (lhs: VaultLocation, rhs: VaultLocation) -> Bool {
        lhs.folder.utf8.elementsEqual(rhs.folder.utf8) && lhs.deviceKeyFile.utf8.elementsEqual(rhs.deviceKeyFile.utf8)
            && lhs.stateFolder.utf8.elementsEqual(rhs.stateFolder.utf8)
    }

    public func hash(into hasher: inout Hasher) {
        for byte in folder.utf8 { hasher.combine(byte) }
    }

    var databaseFile: String { folder + "/" + Self.databaseName }
    var lockFile: String { folder + "/" + Self.lockName }

    /// What a restoration writes before it is put in place, and before what it replaces is put aside.
    var unfinishedRestoration: String { databaseFile + ".restoring" }
    var unfinishedKeeping: String { databaseFile + ".keeping" }
    /// What the names of databases begin with that a restoration has replaced.
    var replacedPrefix: String { databaseFile + ".replaced-" }

    static let databaseName = "vault.db"
    static let lockName = "vault.lock"
    static let reserveName = "vault.reserve"
    /// SQLite's own files beside the database.
    static let companionNames = ["vault.db-wal", "vault.db-shm"]
    /// What SQLite would also open, and write into the database; a vault, which has a WAL, never has one.
    static let journalName = "vault.db-journal"
}
