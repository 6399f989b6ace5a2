// SPDX-License-Identifier: Apache-2.0
// From the two stored copies to one keybag, opened as far as what is at hand opens it.

import Foundation
import KeychainEngine

/// The keybag of a vault that is being opened.
struct StoredKeybag {
    let keybag: Keybag
    /// That one, and the other copy if it is whole and differs.
    let keybags: [Keybag]
    let keyState: KeyState

    /// - Throws: `corrupt` if no copy is whole, `unavailable` or `authenticationFailed` if only a device key opens the vault
    ///   and it is missing or another one.
    init(
        _ copies: [Data?], _ location: VaultLocation, _ settings: VaultSettings
    ) throws(KeychainError) {
        let keybags = try Self.whole(copies, location)
        let surroundings = try Surroundings(location, settings, canDoWithoutDeviceKey: keybags[0].canBeUnlocked)
        guard let stored = try Self(keybags, surroundings) else { throw Self.notOpened(surroundings, location) }
        self = stored
    }

    /// `nil` if only a device key opens the vault, and it is missing or another one.
    ///
    /// - Throws: `corrupt`.
    init?(_ keybags: [Keybag], _ surroundings: Surroundings) throws(KeychainError) {
        let opening = try Self.open(keybags, surroundings)
        guard opening.permanent != nil || opening.keybag.canBeUnlocked else { return nil }
        let settings = surroundings.settings
        keybag = opening.keybag
        self.keybags = [opening.keybag] + keybags.filter { $0 != opening.keybag }
        keyState = KeyState(
            self.keybags, deviceKey: surroundings.deviceKey, permanent: opening.permanent,
            wrongCredential: opening.permanent == nil ? try Self.wrongCredential(keybag, surroundings) : nil,
            settings.caches, bootIDFile: settings.bootIDFile)
    }

    /// The file of the credential that is here, in a vault that opens with one; it has not opened this one.
    private static func wrongCredential(
        _ keybag: Keybag, _ surroundings: Surroundings
    ) throws(KeychainError) -> String? {
        guard keybag.slots.contains(where: { $0.kind == CredentialProtector.kind.number }),
            try CredentialProtector.probe(surroundings) != nil
        else { return nil }
        return CredentialProtector.path(surroundings.settings)
    }

    /// The copies that decode, the newest first; of equal ones the first.
    static func whole(_ copies: [Data?], _ location: VaultLocation) throws(KeychainError) -> [Keybag] {
        let keybags = decoded(copies)
        guard !keybags.isEmpty else {
            guard !copies.contains(where: { $0.map(Keybag.isOfNewerFormat) ?? false }) else {
                throw KeychainError(.newerFormat, "The keybag was written by a newer version of swift-keychain.")
            }
            throw damaged(location)
        }
        return keybags
    }

    /// The one that counts while no secret says otherwise; `nil` if none decodes.
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

    /// The first keybag that a protector at hand opens; the first at all, with no keys, if none does.
    private static func open(
        _ keybags: [Keybag], _ surroundings: Surroundings
    ) throws(KeychainError) -> (keybag: Keybag, permanent: KeyState.Permanent?) {
        let protectors = try Protectors.atHand(surroundings)
        var opened: (keybag: Keybag, permanent: KeyState.Permanent?)?
        for keybag in keybags {
            do throws(KeychainError) {
                let permanent = try permanent(keybag, protectors, surroundings.deviceKey)
                if opened == nil || (opened?.permanent == nil && permanent != nil) { opened = (keybag, permanent) }
                if permanent != nil { break }
            } catch {
                guard error.reason == .corrupt else { throw error }
            }
        }
        guard let opened else { throw damaged(surroundings.location) }
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

    private static func notOpened(_ surroundings: Surroundings, _ location: VaultLocation) -> KeychainError {
        guard surroundings.deviceKey != nil else {
            return KeychainError(
                .unavailable,
                "The device key '\(location.deviceKeyFile)' is missing, so the vault '\(location.folder)' cannot be "
                    + "opened. No new key was made: it would not fit. Restore it, or name it (KEYCHAIN_DEVICE_KEY).")
        }
        return KeychainError(
            .authenticationFailed,
            "The device key '\(location.deviceKeyFile)' is not the one that the vault "
                + "'\(location.folder)' was made with. Put the right one back (KEYCHAIN_DEVICE_KEY).")
    }
}

extension Keybag {
    /// Whether there is a slot that somebody may open later.
    var canBeUnlocked: Bool { slots.contains { $0.kind != DeviceKeyProtector.kind.number } }
}

extension VaultSettings {
    /// In the kernel if that is asked for and possible.
    var cache: any UnlockCache {
        unlockCache == .kernel && KernelUnlockCache.isUsable ? KernelUnlockCache() : ProcessUnlockCache()
    }

    /// Where unlocking keeps the keys: as asked for, unless the kernel refuses.
    public var cacheInUse: UnlockCacheKind { cache is KernelUnlockCache ? .kernel : .process }

    /// What a person is told about a locked vault.
    package var unlockAdvice: String {
        cacheInUse == .kernel
            ? "To unlock it: keychainctl unlock"
            : "Here each process has to unlock it for itself, for example: keychainctl get --passphrase-fd 3 …"
    }

    /// All that are looked at.
    var caches: [any UnlockCache] {
        cache is ProcessUnlockCache ? [ProcessUnlockCache()] : [ProcessUnlockCache(), cache]
    }
}
