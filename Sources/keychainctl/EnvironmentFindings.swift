// SPDX-License-Identifier: Apache-2.0
// The checks of `doctor` outside the vault: variables, memory, swap, the kernel keyring.

import Foundation
import KeychainAuthenticators
import KeychainKit
import KeychainVault
import SecretMemory

enum EnvironmentFindings {
    static func all(_ environment: [String: String]) -> [Finding] {
        settings(environment) + entitlements(environment) + asking(environment) + [keyring(environment), memory] + swap
    }

    // MARK: - Variables

    private static func settings(_ environment: [String: String]) -> [Finding] {
        do throws(KeychainError) {
            _ = try VaultSettings.fromEnvironment(environment)
            return []
        } catch {
            return [Finding("environment", .problem, error.message)]
        }
    }

    private static func entitlements(_ environment: [String: String]) -> [Finding] {
        guard let path = environment["KEYCHAIN_ENTITLEMENTS"] else { return [] }
        do throws(KeychainError) {
            _ = try AccessGroups.ofEnvironment(environment)
            return [
                Finding(
                    "entitlements", .ok,
                    "The entitlements in '\(path)' restrict programs that use the library, and not this tool.")
            ]
        } catch {
            return [Finding("entitlements", .problem, error.message)]
        }
    }

    /// The authenticator of programs that use the library.
    private static func asking(_ environment: [String: String]) -> [Finding] {
        do throws(KeychainError) {
            _ = try Authenticators.configured(by: environment)
            return []
        } catch {
            return [Finding("environment", .problem, error.message)]
        }
    }

    // MARK: - The system

    private static func keyring(_ environment: [String: String]) -> Finding {
        if environment.value("KEYCHAIN_UNLOCK_CACHE") == "process" {
            return Finding(
                "kernel-keyring", .ok,
                "Not used (KEYCHAIN_UNLOCK_CACHE=process): each process must unlock the vault for itself.")
        }
        if VaultSettings().cacheInUse == .kernel {
            return Finding(
                "kernel-keyring", .ok, "The kernel keyring holds the keys of an unlocked vault for all your processes.")
        }
        return Finding(
            "kernel-keyring", .warning,
            "The kernel keyring is not available to this process, as in many containers, so each process must unlock the "
                + "vault for itself. Allow the system calls keyctl and add_key in the container, or give the secret to "
                + "each command.")
    }

    private static var memory: Finding {
        guard SecretBytes.protection == .swappable else {
            return Finding("key-memory", .ok, "Keys in memory: \(SecretBytes.protection.text).")
        }
        return Finding(
            "key-memory", .warning,
            "Keys in memory may be swapped out, because no memory can be locked. Raise the limit (ulimit -l).")
    }

    /// Values pass through ordinary memory too, which may be swapped out.
    private static var swap: [Finding] {
        let open = swapAreas.filter { !isEncryptedOrInMemory($0) }
        guard !open.isEmpty else { return [Finding("swap", .ok, "No unencrypted swap was found.")] }
        return [
            Finding(
                "swap", .warning,
                "Values may get into swap that does not look encrypted: \(open.joined(separator: ", ")). Encrypt it.")
        ]
    }

    private static var swapAreas: [String] {
        lines("/proc/swaps").dropFirst().compactMap { $0.split(separator: " ").first.map(String.init) }
    }

    private static func isEncryptedOrInMemory(_ path: String) -> Bool {
        guard let resolved = realpath(path, nil) else { return false }
        defer { free(resolved) }
        guard let name = String(cString: resolved).split(separator: "/").last else { return false }
        if name.hasPrefix("zram") { return true }
        return lines("/sys/class/block/\(name)/dm/uuid").first?.hasPrefix("CRYPT-") ?? false
    }

    private static func lines(_ path: String) -> [Substring] {
        guard let file = fopen(path, "re") else { return [] }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes.prefix(count), as: UTF8.self).split(separator: "\n")
    }
}
