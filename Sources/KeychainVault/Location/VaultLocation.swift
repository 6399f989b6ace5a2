// SPDX-License-Identifier: Apache-2.0
// The location of the vault and its device key.

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
    /// The file that holds the device key, mode 0600, outside the vault's folder, so that a copy of one does not
    /// contain the other.
    public let deviceKeyFile: String
    /// The folder, mode 0700, in which this machine remembers the newest state of the vault that it has seen, to notice
    /// if an older one is put back. If it cannot be written, the state is not remembered there.
    public let stateFolder: String

    /// - Parameter stateFolder: `nil`: `seen` beside the device key file.
    /// - Throws: `unsafeLocation` if a path is not absolute, or if the key would be inside the vault folder.
    public init(folder: String, deviceKeyFile: String, stateFolder: String? = nil) throws(KeychainError) {
        self.folder = try Self.canonical(folder, "The vault folder")
        self.deviceKeyFile = try Self.canonical(deviceKeyFile, "The device key file")
        let besideKey = FileSafety.parent(of: self.deviceKeyFile) + "/seen"
        self.stateFolder = try Self.canonical(stateFolder ?? besideKey, "The state folder")
        try checkSeparation(folder: self.folder, keyFolder: FileSafety.parent(of: self.deviceKeyFile))
        // The key file would occupy the path of the folder.
        guard !self.folder.utf8.elementsEqual(self.deviceKeyFile.utf8) else {
            throw KeychainError(
                .unsafeLocation,
                "'\(folder)' is both the vault folder and the device key. Name another file (KEYCHAIN_DEVICE_KEY)."
            )
        }
    }

    /// Refuses a key inside the vault folder, also by way of symbolic links. Call it when both folders exist.
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

    /// Whether the state folder lies in the vault folder, also by way of a symbolic link.
    var hasStateFolderInside: Bool {
        let (state, vault) = (FileSafety.resolvedOrFuture(stateFolder), FileSafety.resolvedOrFuture(folder))
        return (state + "/").utf8.starts(with: (vault + "/").utf8)
    }

    /// The user's default vault, or the one that the environment names.
    ///
    /// | variable | names | without it |
    /// |---|---|---|
    /// | `KEYCHAIN_VAULT` | the vault folder | `$XDG_DATA_HOME/swift-keychain`, else `$HOME/.local/share/swift-keychain` |
    /// | `KEYCHAIN_DEVICE_KEY` | the device key file | `$XDG_CONFIG_HOME/swift-keychain/device.key`, else under `$HOME/.config` |
    /// | `XDG_STATE_HOME` | what holds the state folder `swift-keychain` | `$HOME/.local/state`, else ``stateFolder`` is `seen` beside the device key file |
    ///
    /// Call it with ``SecretMemory/ProcessEnvironment/current``, which is empty if the variables are not trusted.
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
        if let path = environment.value("XDG_STATE_HOME"), isAbsolute(path) { return path + "/swift-keychain" }
        guard let home = environment.value("HOME"), isAbsolute(home) else { return nil }
        return home + "/.local/state/swift-keychain"
    }

    /// The XDG base directory rule: a relative path in the XDG variable counts as not set.
    private static func path(
        _ environment: [String: String], _ override: String, _ base: String, _ underHome: String, _ name: String
    ) throws(KeychainError) -> String {
        if let path = environment.value(override) { return path }
        if let path = environment.value(base), isAbsolute(path) { return path + "/" + name }
        guard let home = environment.value("HOME"), isAbsolute(home) else {
            throw KeychainError(
                .unavailable, "Neither \(override), \(base) nor HOME names a folder. " + remedyForNoFolder)
        }
        return home + "/" + underHome + "/" + name
    }

    private static var remedyForNoFolder: String {
        guard ProcessEnvironment.isPrivileged else { return "Set one of them." }
        return "This program has more rights than its caller, so it ignores environment variables. "
            + "Give its user (\(geteuid())) a home folder in the user database."
    }

    /// One spelling for each location: a process keeps one vault object per location.
    ///
    /// The system treats paths as bytes, so this compares bytes: in Swift's characters a slash before a combining mark
    /// is not a slash.
    private static func canonical(_ path: String, _ what: String) throws(KeychainError) -> String {
        let parts = path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }.filter { $0 != "." }
        guard isAbsolute(path), !path.utf8.contains(0), !parts.isEmpty, !parts.contains("..") else {
            throw unusable(path, what, "Give an absolute path below '/', without '..'.")
        }
        // The replacement for bytes that are not valid UTF-8: the path would lead to another folder.
        guard !path.unicodeScalars.contains("\u{FFFD}") else {
            throw unusable(path, what, "Give a path that is valid UTF-8.")
        }
        guard path.utf8.count <= lengthLimit else {
            throw unusable(path, what, "Give a path of at most \(lengthLimit) bytes, which is the limit of SQLite.")
        }
        return parts.reduce(into: "") { path, part in
            path += "/"
            path += part
        }
    }

    private static func isAbsolute(_ path: String) -> Bool { path.utf8.first == UInt8(ascii: "/") }

    /// SQLite's limit is 512 bytes for the longest path that SQLite or this library creates in the folder.
    private static let lengthLimit = 480

    private static func unusable(_ path: String, _ what: String, _ remedy: String) -> KeychainError {
        KeychainError(.unsafeLocation, "\(what) '\(path)' is not usable. \(remedy)")
    }

    /// Compares bytes: names that are equal to Swift may be different files.
    public static func == (lhs: VaultLocation, rhs: VaultLocation) -> Bool {
        lhs.folder.utf8.elementsEqual(rhs.folder.utf8) && lhs.deviceKeyFile.utf8.elementsEqual(rhs.deviceKeyFile.utf8)
            && lhs.stateFolder.utf8.elementsEqual(rhs.stateFolder.utf8)
    }

    public func hash(into hasher: inout Hasher) {
        for byte in folder.utf8 { hasher.combine(byte) }
    }

    /// Whether a folder holds a vault. Nothing else may be written there: a program could take it for a part of the vault.
    package static func isVaultsFolder(_ folder: String) -> Bool {
        func has(_ name: String) -> Bool {
            var status = stat()
            return lstat("\(folder)/\(name)", &status) == 0
        }
        return has(reserveName) || has(lockName)
    }

    var databaseFile: String { folder + "/" + Self.databaseName }
    var lockFile: String { folder + "/" + Self.lockName }

    /// The temporary files of a restoration: the new database, and the copy of the replaced one.
    var unfinishedRestoration: String { databaseFile + Self.restoringSuffix }
    var unfinishedKeeping: String { databaseFile + ".keeping" }
    /// The prefix of the names of databases that a restoration has replaced.
    var replacedPrefix: String { databaseFile + ".replaced-" }

    static let databaseName = "vault.db"
    /// The suffix of a database that is being created.
    static let newSuffix = ".new"
    private static let restoringSuffix = ".restoring"
    /// Of the names that a database may have before it gets its own.
    static let firstSuffixes = [newSuffix, restoringSuffix]
    static let lockName = "vault.lock"
    static let reserveName = "vault.reserve"
    /// SQLite's own files beside the database.
    static let companionNames = ["vault.db-wal", "vault.db-shm"]
    /// SQLite would also open this file and write it into the database. A vault uses a WAL and never has one.
    static let journalName = "vault.db-journal"
}
