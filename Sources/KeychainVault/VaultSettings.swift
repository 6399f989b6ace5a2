// SPDX-License-Identifier: Apache-2.0
// How a vault is used, beyond where it lies.

package import KeychainCrypto
public import KeychainEngine

/// How a process uses a vault.
///
/// ```swift
/// var settings = try VaultSettings.fromEnvironment(ProcessEnvironment.current)
/// settings.unlockCache = .process
/// ```
public struct VaultSettings: Sendable {
    /// Where the keys of an unlocked vault are kept.
    public enum UnlockCacheKind: String, Sendable, CaseIterable {
        /// In the kernel's keyring of the user, for all of the user's processes; in the process where the kernel refuses.
        case kernel
        /// In the memory of the process that unlocked, for it alone.
        case process
    }

    /// What remembers the newest state of a vault that was seen, outside of the vault.
    public enum AnchorKind: String, Sendable, CaseIterable {
        /// A file in ``VaultLocation/stateFolder``.
        case file
        /// A key in the kernel's keyring of the user, until the machine goes down.
        case kernel
    }

    /// The folder in which a service manager has put credentials for this process; `nil` if there is none.
    public var credentialsFolder: String?
    public var unlockCache = UnlockCacheKind.kernel
    /// Where this machine remembers the newest state of the vault. A program that wants the kernel to remember as well, as the
    /// environment's settings do, adds it: each vault then takes one of the keys that the kernel lets a user have.
    public var anchors: Set<AnchorKind> = [.file]
    /// How long a call waits for other processes before it fails as `busy`: a writer for the one that writes, and everybody for
    /// one that was stopped where it prepares SQLite's log.
    public var writerTimeout = Duration.seconds(30)

    /// What tells one run of the system from the next.
    package var bootIDFile = "/proc/sys/kernel/random/boot_id"
    package var scryptCost = ScryptCost()
    /// Items that one transaction of a rotation seals anew; others wait for that long.
    package var rotationBatch = 100

    public init() {}

    /// The settings that the environment asks for.
    ///
    /// | variable | means |
    /// |---|---|
    /// | `CREDENTIALS_DIRECTORY` | where systemd puts a service's credentials; a vault may open with one of them |
    /// | `KEYCHAIN_UNLOCK_CACHE` | `kernel` (also without it) or `process` |
    /// | `KEYCHAIN_ANCHORS` | what remembers the newest state of the vault: `kernel` (also without it) the state folder and the kernel, `file` the state folder alone |
    ///
    /// - Throws: `invalidParameter` for another word.
    public static func fromEnvironment(_ environment: [String: String]) throws(KeychainError) -> VaultSettings {
        var settings = VaultSettings()
        settings.credentialsFolder = environment["CREDENTIALS_DIRECTORY"]
        settings.anchors = try anchors(environment["KEYCHAIN_ANCHORS"])
        if let word = environment["KEYCHAIN_UNLOCK_CACHE"] {
            guard let kind = UnlockCacheKind(rawValue: word) else {
                throw KeychainError(
                    .invalidParameter, "KEYCHAIN_UNLOCK_CACHE takes 'kernel' or 'process'. Correct it or unset it.")
            }
            settings.unlockCache = kind
        }
        return settings
    }

    private static func anchors(_ word: String?) throws(KeychainError) -> Set<AnchorKind> {
        switch word.map(AnchorKind.init(rawValue:)) {
        case .none, .some(.kernel): return [.file, .kernel]
        case .some(.file): return [.file]
        case .some(nil):
            throw KeychainError(
                .invalidParameter, "KEYCHAIN_ANCHORS takes 'kernel' or 'file'. Correct it or unset it.")
        }
    }
}

/// What deriving a key from a passphrase has to cost at least, and should take.
package struct ScryptCost: Sendable {
    package var floor = ScryptParameters.floor
    /// `nil`: the floor is good enough.
    package var target: Duration? = .milliseconds(500)

    package init() {}

    package init(floor: ScryptParameters, target: Duration?) {
        self.floor = floor
        self.target = target
    }

    func calibrated() throws(KeychainError) -> ScryptParameters {
        guard let target else { return floor }
        do {
            return try ScryptParameters.calibrated(target: target)
        } catch {
            throw KeychainError(.unavailable, "Deriving a key from a passphrase failed. Free some memory.")
        }
    }
}
