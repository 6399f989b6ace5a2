// SPDX-License-Identifier: Apache-2.0
// Choosing one keybag from the two stored copies, and opening it with the protectors on this machine.

import Foundation
import KeychainEngine

/// The keybag of a vault that is being opened.
struct StoredKeybag {
    let keybag: Keybag
    /// The chosen keybag, and the other copy if it is intact and differs.
    let keybags: [Keybag]
    let keyState: KeyState

    /// - Throws: `corrupt` if no copy is intact, `unavailable` or `authenticationFailed` if only a device key opens the
    ///   vault and it is missing or wrong.
    init(
        _ copies: [Data?], _ location: VaultLocation, _ settings: VaultSettings
    ) throws(KeychainError) {
        let keybags = try Self.whole(copies, location)
        let environment = try ProtectorEnvironment(location, settings, canDoWithoutDeviceKey: keybags[0].canBeUnlocked)
        guard let stored = try Self(keybags, environment) else { throw Self.notOpened(environment, location) }
        self = stored
    }

    /// `nil` if only a device key opens the vault, and it is missing or wrong.
    ///
    /// - Throws: `corrupt`.
    init?(_ keybags: [Keybag], _ environment: ProtectorEnvironment) throws(KeychainError) {
        let opening = try Self.open(keybags, environment)
        guard opening.permanent != nil || opening.keybag.canBeUnlocked else { return nil }
        let settings = environment.settings
        keybag = opening.keybag
        self.keybags = [opening.keybag] + keybags.filter { $0 != opening.keybag }
        keyState = KeyState(
            self.keybags, deviceKey: environment.deviceKey, permanent: opening.permanent,
            wrongCredential: opening.permanent == nil ? try Self.wrongCredential(keybag, environment) : nil,
            settings.caches, bootIDFile: settings.bootIDFile)
    }

    /// The file of the credential on this machine, if the vault has a slot for one, which it did not open.
    private static func wrongCredential(
        _ keybag: Keybag, _ environment: ProtectorEnvironment
    ) throws(KeychainError) -> String? {
        guard keybag.slots.contains(where: { $0.kind == CredentialProtector.kind.number }),
            try CredentialProtector.probe(environment) != nil
        else { return nil }
        return CredentialProtector.path(environment.settings)
    }

    /// The copies that decode, the newest first; of equal copies only the first.
    static func whole(_ copies: [Data?], _ location: VaultLocation) throws(KeychainError) -> [Keybag] {
        let keybags = decoded(copies)
        guard !keybags.isEmpty else {
            guard !copies.contains(where: { $0.map(Keybag.isOfNewerFormat) ?? false }) else {
                throw KeychainError(
                    .newerFormat, "The keybag was written by a newer version of swift-keychain. Use that version.")
            }
            throw damaged(location)
        }
        return keybags
    }

    /// The keybag to use until a secret authenticates one; `nil` if none decodes.
    static func newest(_ copies: [Data?]) -> Keybag? { decoded(copies).first }

    private static func decoded(_ copies: [Data?]) -> [Keybag] {
        var keybags: [Keybag] = []
        for bytes in copies {
            do throws(MalformedBytes) {
                guard let bytes else { throw MalformedBytes() }
                keybags.append(try Keybag(bytes: bytes))
            } catch {
                continue  // The other copy is there for this.
            }
        }
        return keybags.enumerated().sorted {
            ($0.element.sequence, $1.offset) > ($1.element.sequence, $0.offset)
        }.map(\.element)
    }

    /// The first keybag that a protector on this machine opens; if none does, the first keybag without keys.
    private static func open(
        _ keybags: [Keybag], _ environment: ProtectorEnvironment
    ) throws(KeychainError) -> (keybag: Keybag, permanent: KeyState.Permanent?) {
        let protectors = try Protectors.atHand(environment)
        var opened: (keybag: Keybag, permanent: KeyState.Permanent?)?
        for keybag in keybags {
            do throws(KeychainError) {
                let permanent = try permanent(keybag, protectors, environment.deviceKey)
                if opened == nil || (opened?.permanent == nil && permanent != nil) { opened = (keybag, permanent) }
                if permanent != nil { break }
            } catch {
                guard error.reason == .corrupt else { throw error }
            }
        }
        guard let opened else { throw damaged(environment.location) }
        return opened
    }

    private static func permanent(
        _ keybag: Keybag, _ protectors: [any Protector], _ deviceKey: DeviceKey?
    ) throws(KeychainError) -> KeyState.Permanent? {
        for protector in protectors {
            guard let authority = try keybag.authority(protector, deviceKey) else { continue }
            let keys = try ClassKeys(keybag, authority)
            let sealer = RowSealer(keys, userPublicKey: keybag.userKey?.publicKey)
            return KeyState.Permanent(sealer: sealer, kind: type(of: protector).kind)
        }
        return nil
    }

    private static func damaged(_ location: VaultLocation) -> KeychainError {
        KeychainError(
            .corrupt,
            "'\(location.databaseFile)': both copies of the keybag are damaged. " + KeychainError.restoreAdvice)
    }

    private static func notOpened(_ environment: ProtectorEnvironment, _ location: VaultLocation) -> KeychainError {
        guard environment.deviceKey != nil else {
            return KeychainError(
                .unavailable,
                "The device key '\(location.deviceKeyFile)' is missing, so the vault '\(location.folder)' cannot be "
                    + "opened. No new key was made: it could not open the vault. Restore the key, or set KEYCHAIN_DEVICE_KEY to its path."
            )
        }
        return KeychainError(
            .authenticationFailed,
            "The device key '\(location.deviceKeyFile)' is not the one that the vault "
                + "'\(location.folder)' was made with. Restore the right key, or set KEYCHAIN_DEVICE_KEY to its path.")
    }
}

extension Keybag {
    /// Whether there is a slot that the user may open later.
    var canBeUnlocked: Bool { slots.contains { $0.kind != DeviceKeyProtector.kind.number } }
}

extension VaultSettings {
    /// The kernel's cache if it is requested and possible.
    var cache: any UnlockCache {
        unlockCache == .kernel && KernelUnlockCache.isUsable ? KernelUnlockCache() : ProcessUnlockCache()
    }

    /// Where unlocking keeps the keys: as requested, unless the kernel refuses.
    public var cacheInUse: UnlockCacheKind { cache is KernelUnlockCache ? .kernel : .process }

    /// The advice in messages about a locked vault.
    package var unlockAdvice: String {
        cacheInUse == .kernel
            ? "To unlock it: keychainctl unlock"
            : "Here each process must unlock it separately, for example: keychainctl get --passphrase-fd 3 …"
    }

    /// All caches that are checked.
    var caches: [any UnlockCache] {
        cache is ProcessUnlockCache ? [ProcessUnlockCache()] : [ProcessUnlockCache(), cache]
    }
}
