// SPDX-License-Identifier: Apache-2.0
// What the state of a vault means, in plain words.

import KeychainKit
import KeychainVault
import SecretMemory

extension VaultStatus {
    /// What keeps strangers out: any protector opens the vault, so the weakest counts. `nil` if there is no vault.
    var strength: String? {
        let kinds = Set(slots.compactMap(\.kind)).sorted { $0.number < $1.number }
        let others = kinds.filter { $0 != .deviceKey }.map(\.name).joined(separator: ", ")
        guard !kinds.isEmpty else { return nil }
        if kinds.contains(.deviceKey) {
            let exception = kinds.contains { $0.holder == .person } ? " but the values of items that ask for you" : ""
            return "as strong as the device key's file: who reads it has everything" + exception
                + (others.isEmpty ? "" : ", whatever else there is (\(others))")
        }
        return kinds.count == 1 ? "as strong as the \(others)" : "as strong as the weakest of: \(others)"
    }

    var lockStateText: String {
        if let openedBy { return "always unlocked: the \(openedBy.name) opens it without asking anybody" }
        return switch lockState {
        case .beforeFirstUnlock: "locked, with what is open after the first unlock"
        case .locked: "locked; what is open after the first unlock is open"
        case .unlocked: "unlocked"
        }
    }

    var unlockCacheText: String {
        switch unlockCache {
        case .kernel: "in the kernel: one unlock serves all your processes, and programs that run as you can read it"
        case .process: "in each process: unlocking serves only the command that does it (the kernel keeps no keys here)"
        }
    }

    var bindingText: String {
        isOfThisDevice
            ? "the vault's own"
            : "not the vault's own: items for its device alone stay closed (keychainctl protect adopt)"
    }

    var rotationText: String {
        isRotating
            ? "has not ended; items still under the old keys: \(unrotatedCount). Go on with: keychainctl rotate"
            : "none under way"
    }
}

extension MemoryProtection {
    /// The word in JSON; it never changes.
    var word: String {
        switch self {
        case .secretMemory: "secretMemory"
        case .locked: "locked"
        case .swappable: "swappable"
        }
    }

    var text: String {
        switch self {
        case .secretMemory: "secret: kept out of swap, and unreadable through the kernel"
        case .locked: "kept out of swap"
        case .swappable: "not locked: may be swapped out (ulimit -l)"
        }
    }
}
