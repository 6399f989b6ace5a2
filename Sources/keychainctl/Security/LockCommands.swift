// SPDX-License-Identifier: Apache-2.0
// security lock-keychain, unlock-keychain and the settings of a keychain. All of them concern the one vault.

import Foundation
import KeychainKit
import KeychainVault
import SecretMemory

enum LockCommands {
    static func lock(_ call: SecurityCall) throws(SecurityFailure) {
        let options = try call.options("a")
        guard options.words.count <= 1 else { throw .usage() }
        let function = function("SecKeychainLock", options)
        _ = try call.keychain(options.words.first, function)
        try naming(function) { () throws(KeychainError) in
            let vault = try existing(call)
            let opensForAll = try vault.openedBy == .deviceKey
            guard call.session.isInteractive || vault.unlockCacheInUse == .kernel || opensForAll else {
                throw KeychainError(
                    .unavailable, "Nothing was locked: each process keeps its own keys here. See: keychainctl doctor")
            }
            try vault.lock()
        }
    }

    static func unlock(_ call: SecurityCall) throws(SecurityFailure) {
        let options = try call.options("up:")
        guard options.words.count <= 1 else { throw .usage() }
        let function = function("SecKeychainUnlock", options)
        _ = try call.keychain(options.words.first, function)
        if options["p"] != nil { call.session.warnOfArgument("the password") }
        try naming(function) { () throws(KeychainError) in
            let vault = try call.session.vault
            // Scripts unlock a new keychain before they store anything, and the first item makes a vault that is open.
            guard try !vault.protectors.isEmpty else { return }
            let hasPassphrase = try vault.protectors.contains { $0.kind == .passphrase }
            let opensAnyway = try vault.opensByItself
            // With a passphrase, a wrong one is an error even if the vault is open.
            if opensAnyway, !hasPassphrase || options["p"] == nil { return }
            guard !options.has("u") else {
                throw KeychainError(.interactionNotAllowed, "Without a password nothing opens the vault.")
            }
            var password = try passphrase(call, options)
            defer { password.wipe() }
            try unlock(call, vault, password, isProof: opensAnyway)
        }
    }

    private static func passphrase(_ call: SecurityCall, _ options: SecurityOptions) throws(KeychainError) -> Data {
        if let text = options["p"] { return Data(text.utf8) }
        return try call.session.secret("password to unlock \(options.words.first ?? "default"): ")
    }

    /// - Parameter isProof: Whether the vault is open, and only the passphrase is checked.
    private static func unlock(
        _ call: SecurityCall, _ vault: Vault, _ password: Data, isProof: Bool
    ) throws(KeychainError) {
        let isForThisProcess = isProof || vault.unlockCacheInUse == .process
        guard !isForThisProcess || isProof || call.session.isInteractive else {
            throw KeychainError(
                .unavailable,
                "Each process must unlock the vault for itself here, so an unlock would have no effect after this command. "
                    + "Use `security -i`, which runs several commands in one process.")
        }
        let timeout = try KeychainListFile.read().timeout.map { Duration.seconds(Int64($0)) }
        try vault.unlock(
            secret(password), idleTimeout: isForThisProcess ? nil : timeout,
            keepingKeysIn: isForThisProcess ? .process : nil)
    }

    private static func secret(_ password: Data) throws(KeychainError) -> ProtectorSecret {
        guard !password.isEmpty else { throw KeychainError(.authenticationFailed, "The password is empty.") }
        return ProtectorSecret(.passphrase, password.withUnsafeBytes { SecretBytes(copying: $0) })
    }

    // MARK: - Settings

    static func settings(_ call: SecurityCall) throws(SecurityFailure) {
        let options = try call.options("lut:")
        guard options.words.count <= 1 else { throw .usage() }
        let function = function("SecKeychainSetSettings", options)
        var seconds: UInt32?
        if let text = options["t"] {
            guard let number = UInt32(text) else { throw .usage("security: -t takes a number of seconds") }
            seconds = number > 0 ? number : nil
        }
        _ = try call.keychain(options.words.first, function)
        try naming(function) { [seconds] () throws(KeychainError) in
            try KeychainListFile.change { (list) throws(KeychainError) in list.timeout = seconds }
        }
        if options["t"] != nil, seconds == nil {
            call.session.say("security: A time of 0 seconds means no timeout here.")
        }
        if options.has("u"), options["t"] == nil {
            call.session.say("security: -u has no effect without -t SECONDS. No timeout is set.")
        }
        if options.has("l") {
            call.session.say(
                "security: -l has no effect here. To lock the vault before the system sleeps: keychainctl watch-session"
            )
        }
    }

    /// Fails for a locked vault, as on macOS: scripts use this to see whether a keychain is locked.
    static func show(_ call: SecurityCall) throws(SecurityFailure) {
        let options = try call.options("")
        guard options.words.count <= 1 else { throw .usage() }
        let function = function("SecKeychainCopySettings", options)
        _ = try call.keychain(options.words.first, function)
        let timeout = try naming(function) { () throws(KeychainError) in
            let state = try call.session.vault.lockState
            guard state == .unlocked else {
                throw KeychainError(.locked, "The vault is locked.")
            }
            return try KeychainListFile.read().timeout
        }
        let name = (options.words.first ?? "<NULL>").escaped
        let end = timeout.map { " use-lock-interval timeout=\($0)s" } ?? " no-timeout"
        Output.writeToErrors(Data("Keychain \"\(name)\"\(end)\n".utf8))
    }

    static func setPassword(_ call: SecurityCall) throws(SecurityFailure) {
        let options = try call.options("o:p:")
        guard options.words.count <= 1 else { throw .usage() }
        let function = function("SecKeychainChangePassword", options)
        _ = try call.keychain(options.words.first, function)
        if options["o"] != nil || options["p"] != nil { call.session.warnOfArgument("the password") }
        var old = try naming(function) { () throws(KeychainError) in
            if let text = options["o"] { return Data(text.utf8) }
            return try call.session.secret("Old Password: ")
        }
        defer { old.wipe() }
        var new = Data((options["p"] ?? "").utf8)
        if options["p"] == nil {
            new = try call.session.newSecret("New Password: ", again: "Retype New Password: ")
        }
        defer { new.wipe() }
        try naming(function) { () throws(KeychainError) in
            let vault = try existing(call)
            let slots = try vault.protectors.filter { $0.kind == .passphrase }
            guard let slot = slots.first else {
                throw KeychainError(
                    .unsupported, "The vault has no passphrase. To add one: keychainctl protect add passphrase")
            }
            // The old password may be that of any of them, or another secret.
            guard slots.count == 1 else {
                throw KeychainError(
                    .unsupported,
                    "The vault has several passphrases; nothing was changed. Use: keychainctl protect change")
            }
            try vault.changeProtector(slot.id, to: secret(new), authority: secret(old))
        }
    }

    // MARK: - Arguments

    private static func function(_ name: String, _ options: SecurityOptions) -> String {
        options.words.first.map { name + " " + $0.escaped } ?? name
    }

    private static func existing(_ call: SecurityCall) throws(KeychainError) -> Vault {
        let vault = try call.session.vault
        guard try !vault.protectors.isEmpty else {
            throw KeychainError(.unavailable, "There is no vault yet. To create one: keychainctl init")
        }
        return vault
    }
}
