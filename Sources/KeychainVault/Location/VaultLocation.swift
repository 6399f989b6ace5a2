// SPDX-License-Identifier: Apache-2.0
// Where the vault and its device key live.

public import KeychainEngine

/// The folder of a vault and the file of its device key, both absolute paths.
///
/// ```swift
/// let location = try VaultLocation.fromEnvironment()
/// ```
public struct VaultLocation: Hashable, Sendable {
    /// The folder that holds the vault's files, mode 0700.
    public let folder: String
    /// The file that holds the device key, mode 0600, outside the vault's folder so that a copy of one lacks the other.
    public let deviceKeyFile: String

    /// - Throws: `unsafeLocation` if a path is not absolute, or if the key would lie beside what it opens.
    public init(folder: String, deviceKeyFile: String) throws(KeychainFailure) {
        self.folder = try Self.absolute(folder, "The vault folder")
        self.deviceKeyFile = try Self.absolute(deviceKeyFile, "The device key file")
        if self.deviceKeyFile.hasPrefix(self.folder + "/") {
            throw KeychainFailure(
                .unsafeLocation,
                "The device key '\(deviceKeyFile)' lies inside the vault folder, where a copy of the vault would "
                    + "contain its key. Keep it elsewhere (KEYCHAIN_DEVICE_KEY).")
        }
    }

    /// The user's default vault, or what the environment names instead.
    ///
    /// | variable | names | without it |
    /// |---|---|---|
    /// | `KEYCHAIN_VAULT` | the vault folder | `$XDG_DATA_HOME/swift-keychain`, else `$HOME/.local/share/swift-keychain` |
    /// | `KEYCHAIN_DEVICE_KEY` | the device key file | `$XDG_CONFIG_HOME/swift-keychain/device.key`, else under `$HOME/.config` |
    ///
    /// - Throws: `unavailable` if neither these nor `HOME` are set, `unsafeLocation` for paths that are not absolute.
    public static func fromEnvironment(_ environment: [String: String]) throws(KeychainFailure) -> VaultLocation {
        try VaultLocation(
            folder: path(environment, "KEYCHAIN_VAULT", "XDG_DATA_HOME", ".local/share", "swift-keychain"),
            deviceKeyFile: path(
                environment, "KEYCHAIN_DEVICE_KEY", "XDG_CONFIG_HOME", ".config", "swift-keychain/device.key"))
    }

    /// The XDG base directory rule: a relative path in the XDG variable counts as not set.
    private static func path(
        _ environment: [String: String], _ override: String, _ base: String, _ underHome: String, _ name: String
    ) throws(KeychainFailure) -> String {
        if let path = environment[override] { return path }
        if let path = environment[base], path.hasPrefix("/") { return path + "/" + name }
        guard let home = environment["HOME"], home.hasPrefix("/") else {
            throw KeychainFailure(
                .unavailable, "Neither \(override), \(base) nor HOME names a folder. Set one of them.")
        }
        return home + "/" + underHome + "/" + name
    }

    private static func absolute(_ path: String, _ what: String) throws(KeychainFailure) -> String {
        guard path.hasPrefix("/"), !path.utf8.contains(0) else {
            throw KeychainFailure(.unsafeLocation, "\(what) '\(path)' is not an absolute path. Start it with '/'.")
        }
        var trimmed = path
        while trimmed.count > 1, trimmed.hasSuffix("/") { trimmed.removeLast() }
        return trimmed
    }

    var databaseFile: String { folder + "/" + Self.databaseName }
    var lockFile: String { folder + "/" + Self.lockName }

    static let databaseName = "vault.db"
    static let lockName = "vault.lock"
    /// SQLite's own files beside the database.
    static let companionNames = ["vault.db-wal", "vault.db-shm"]
}
