// SPDX-License-Identifier: Apache-2.0
// How a vault is used, apart from its location.

package import KeychainCrypto
public import KeychainEngine
import SecretMemory

/// How a process uses a vault.
///
/// ```swift
/// var settings = try VaultSettings.fromEnvironment(ProcessEnvironment.current)
/// settings.unlockCache = .process
/// ```
public struct VaultSettings: Sendable {
    /// Where the keys of an unlocked vault are kept.
    public enum UnlockCacheKind: String, Sendable, CaseIterable {
        /// In the user's kernel keyring, for all of the user's processes; in the process if the kernel refuses.
        case kernel
        /// In the memory of the unlocking process, for that process only.
        case process
    }

    /// What remembers, outside the vault, the newest state of the vault that was seen.
    public enum AnchorKind: String, Sendable, CaseIterable {
        /// A file in ``VaultLocation/stateFolder``.
        case file
        /// A key in the user's kernel keyring, until the machine is shut down.
        case kernel
    }

    /// The folder of the credentials that a service manager provides to this process; `nil` if there is none.
    public var credentialsFolder: String?
    public var unlockCache = UnlockCacheKind.kernel
    /// Where this machine remembers the newest state of the vault. Add `kernel` to let the kernel remember it too, as
    /// the environment's settings do: each vault then takes one of the keys that the kernel allows a user.
    public var anchors: Set<AnchorKind> {
        get { Set(AnchorKind.allCases.filter(keeps)) }
        set { (isFileKept, isKernelKept) = (newValue.contains(.file), newValue.contains(.kernel)) }
    }
    // Not a set: for the first one the runtime searches all protocol conformances of the program, which takes as long
    // as ten reads.
    private var (isFileKept, isKernelKept) = (true, false)
    /// What seals the secret of a protector of the kind `tpm2`, for example `TPMSealing` of KeychainTPM; `nil`: this program
    /// neither adds nor uses such a protector.
    public var sealer: (any SecretSealer)?
    /// How long a call waits for other processes before it fails as `busy`: a writer waits for the current writer, and
    /// every call for a process that was stopped while it prepares SQLite's WAL.
    public var writerTimeout = Duration.seconds(30)

    /// The file that identifies one boot of the system.
    package var bootIDFile = "/proc/sys/kernel/random/boot_id"
    /// The file that identifies one installation of a system.
    package var machineIDFile = "/etc/machine-id"
    package var scryptCost = ScryptCost()
    /// Items that one transaction of a rotation seals again; other writers wait for that long.
    package var rotationBatch = 100

    public init() {}

    /// For tests: keys stay in the process, and a passphrase derivation takes milliseconds.
    @_spi(Wrappers) public static var quick: VaultSettings {
        var settings = VaultSettings()
        settings.unlockCache = .process
        settings.scryptCost = ScryptCost(
            floor: ScryptParameters(rounds: 1 << 15, blockSize: 8, parallelism: 1), target: nil)
        return settings
    }

    /// The settings from the environment.
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
        settings.credentialsFolder = environment.value("CREDENTIALS_DIRECTORY")
        settings.isKernelKept = try keepsKernel(environment.value("KEYCHAIN_ANCHORS"))
        if let word = environment.value("KEYCHAIN_UNLOCK_CACHE") {
            guard let kind = UnlockCacheKind(rawValue: word) else {
                throw KeychainError(
                    .invalidParameter, "KEYCHAIN_UNLOCK_CACHE takes 'kernel' or 'process'. Correct it or unset it.")
            }
            settings.unlockCache = kind
        }
        return settings
    }

    /// Whether anchors of this kind are kept.
    func keeps(_ kind: AnchorKind) -> Bool {
        switch kind {
        case .file: isFileKept
        case .kernel: isKernelKept
        }
    }

    /// The file is always kept.
    private static func keepsKernel(_ word: String?) throws(KeychainError) -> Bool {
        switch word.map(AnchorKind.init(rawValue:)) {
        case .none, .some(.kernel): return true
        case .some(.file): return false
        case .some(nil):
            throw KeychainError(
                .invalidParameter, "KEYCHAIN_ANCHORS takes 'kernel' or 'file'. Correct it or unset it.")
        }
    }
}

/// The minimum cost of deriving a key from a passphrase, and its target duration.
package struct ScryptCost: Sendable {
    package var floor = ScryptParameters.floor
    /// If `nil`, the minimum is used.
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
