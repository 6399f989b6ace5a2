// SPDX-License-Identifier: Apache-2.0
// The state of a vault as text.

import KeychainKit
import KeychainVault
import SecretMemory

extension VaultStatus {
    /// The strength of the protection. Any protector opens the vault, so the weakest counts. `nil` if there is no
    /// vault.
    var strength: String? {
        let kinds = Set(slots.compactMap(\.kind)).sorted { $0.number < $1.number }
        let others = kinds.filter { $0 != .deviceKey }.map(\.name).joined(separator: ", ")
        guard !kinds.isEmpty else { return nil }
        if kinds.contains(.deviceKey) {
            let exception =
                kinds.contains { $0.holder == .person }
                ? " except the values of items that require authentication" : ""
            return "as strong as the device key's file: anyone who can read it can read everything"
                + exception
                + (others.isEmpty ? "" : "; the other protectors (\(others)) do not change that")
        }
        return kinds.count == 1 ? "as strong as the \(others)" : "as strong as the weakest of: \(others)"
    }

    var lockStateText: String {
        if let openedBy { return "always unlocked: the \(openedBy.name) opens it without a prompt" }
        return switch lockState {
        case .beforeFirstUnlock: "locked, including items that open after the first unlock"
        case .locked: "locked, except items that open after the first unlock"
        case .unlocked: "unlocked"
        }
    }

    var unlockCacheText: String {
        switch unlockCache {
        case .kernel: "in the kernel: one unlock serves all your processes; programs that run as you can read the keys"
        case .process: "in each process: an unlock serves only the command that does it (the kernel keyring is unused)"
        }
    }

    var bindingText: String {
        isOfThisDevice
            ? "the vault is bound to it"
            : "the vault is not bound to it: items bound to another device do not open. "
                + "See: keychainctl protect adopt --help"
    }

    var rotationText: String {
        isRotating
            ? "not finished; items still under the old keys: \(unrotatedCount). To continue: keychainctl rotate"
            : "none in progress"
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
        case .secretMemory: "secret memory: kept out of swap, and not readable through the kernel"
        case .locked: "kept out of swap"
        case .swappable: "not locked: may be swapped out (ulimit -l)"
        }
    }
}
