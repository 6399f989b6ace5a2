// SPDX-License-Identifier: Apache-2.0
// New secrets that will open the vault, and the selection of a protector.

import ArgumentParser
import Foundation
import KeychainAuthenticators
import KeychainKit
import KeychainVault
import SecretMemory

struct NewSecretOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Read the new passphrase from this open descriptor.", valueName: "number"))
    var newPassphraseFd: String?

    @Option(help: ArgumentHelp("The new key file: 32 to 4096 random bytes.", valueName: "path"), completion: .file())
    var newKeyFile: String?

    @Option(help: ArgumentHelp("Read the new key of a key file from this open descriptor.", valueName: "number"))
    var newKeyFd: String?

    @Flag(help: "Protect the secret in the TPM with a PIN, which you enter twice.")
    var pin = false

    @Option(help: ArgumentHelp("Read the new PIN of the TPM from this open descriptor.", valueName: "number"))
    var newPinFd: String?

    func validate() throws {
        try Descriptors.check([
            "--new-passphrase-fd": newPassphraseFd, "--new-key-fd": newKeyFd, "--new-pin-fd": newPinFd,
        ])
        guard newKeyFile == nil || newKeyFd == nil else {
            throw ValidationError("--new-key-file and --new-key-fd cannot be used together. Give one of them.")
        }
    }

    /// - Throws: If an option belongs to another kind.
    func check(for kind: ProtectorKind) throws {
        guard kind == .passphrase || newPassphraseFd == nil else {
            throw ValidationError("--new-passphrase-fd can only be used with the kind 'passphrase'.")
        }
        guard kind == .tpm || !(pin || newPinFd != nil) else {
            throw ValidationError("--pin and --new-pin-fd can only be used with the kind 'tpm2'.")
        }
        let isKeyGiven = newKeyFile != nil || newKeyFd != nil
        guard (kind == .keyFile) == isKeyGiven else {
            throw ValidationError(
                isKeyGiven
                    ? "--new-key-file and --new-key-fd can only be used with the kind 'key-file'."
                    : "Give --new-key-file or --new-key-fd.")
        }
    }

    /// The secret to set; it is asked for or created if it was not given.
    ///
    /// - Parameter keepsPIN: Whether the protector that it replaces has a PIN, so that it is not lost unnoticed.
    func secret(
        of kind: ProtectorKind, _ vault: Vault, keepsPIN: Bool = false
    ) throws(KeychainError) -> ProtectorSecret {
        switch kind.input {
        case .found: return ProtectorSecret(kind)
        case .generated: return ProtectorSecret(kind, Vault.makeRecoveryKey())
        case .sealed: return ProtectorSecret(kind, try newPIN(isAsked: pin || keepsPIN))
        case .typed: return ProtectorSecret(kind, try NewPassphrase.read(newPassphraseFd.flatMap(Descriptors.number)))
        case .bytes:
            let source = newKeyFd.flatMap(Descriptors.number).map { SecretSource.descriptor($0) }
            return try (source ?? .file(newKeyFile ?? "")).secret(of: kind, vault, question: "")
        }
    }
}

extension NewSecretOptions {
    private func newPIN(isAsked: Bool) throws(KeychainError) -> SecretBytes? {
        if let descriptor = newPinFd.flatMap(Descriptors.number) {
            return try SecretInput.read(descriptor).withoutFinalNewline()
        }
        return isAsked ? try SecretInput.askTwice("New PIN of the TPM: ") : nil
    }
}

enum NewPassphrase {
    private static let short = 8

    /// - Parameter descriptor: `nil` to ask on the terminal, twice.
    static func read(_ descriptor: Int32?) throws(KeychainError) -> SecretBytes {
        let secret: SecretBytes
        if let descriptor {
            secret = try SecretInput.read(descriptor).withoutFinalNewline()
        } else {
            secret = try SecretInput.askTwice("New passphrase of the keychain: ")
        }
        if secret.count < short {
            Output.note(
                "Warning: this passphrase is short. Someone with a copy of the vault may guess it. Use several words.")
        }
        return secret
    }
}

enum RecoveryKeyOutput {
    /// Writes the key before it can open the vault: in the other order, a full disk or a closed output could destroy
    /// the only way to open the vault.
    ///
    /// It is only written to standard output, so that it can be printed on paper without being seen.
    ///
    /// - Parameter secrets: Secrets of other kinds are not shown.
    static func showing(
        _ secrets: [ProtectorSecret], while change: () throws(KeychainError) -> Void
    ) throws(KeychainError) {
        let keys = secrets.filter { $0.kind == .recoveryKey }.compactMap(\.secret)
        for key in keys {
            try Output.write(key)
            try Output.write("\n")
        }
        do throws(KeychainError) {
            try change()
        } catch {
            let advice =
                error.reason == .inputOutput
                ? "It is unknown whether the printed recovery key opens the vault. Keep it, and any previous one, until you know "
                    + "which one does: keychainctl unlock --recovery-key"
                : "The printed recovery key does not open the vault. Throw it away."
            if !keys.isEmpty { Output.note(advice) }
            throw error
        }
        guard !keys.isEmpty else { return }
        Output.note(
            "This is the recovery key. It is shown only once. Write it down, and keep it away from this machine. "
                + "Anyone who has it can open the vault.")
    }
}

/// A kind of protector, or the ID of one.
enum ProtectorName: ExpressibleByArgument {
    case kind(ProtectorKind)
    case id(UUID)

    init?(argument: String) {
        if let kind = ProtectorKind(word: argument) {
            self = .kind(kind)
        } else if let id = UUID(uuidString: argument) {
            self = .id(id)
        } else {
            return nil
        }
    }

    static let help = "passphrase, recovery-key, credential, key-file, tpm2, device-key, or an id"
    static let defaultCompletionKind = KindName.defaultCompletionKind

    /// The selected protector.
    ///
    /// - Throws: `itemNotFound`, or `duplicateItem` if there are several of the kind.
    func slot(in vault: Vault) throws(KeychainError) -> VaultStatus.Slot {
        let found = try vault.protectors.filter { slot in
            switch self {
            case .kind(let kind): slot.kind == kind
            case .id(let id): slot.id == id
            }
        }
        guard let slot = found.first else {
            throw KeychainError(.itemNotFound, "There is no such protector. List them: keychainctl protect list")
        }
        guard found.count == 1 else {
            throw KeychainError(
                .duplicateItem,
                "There are \(found.count) protectors of that kind. Give the id of one. To list them: "
                    + "keychainctl protect list")
        }
        return slot
    }
}

/// A kind of protector by its word.
struct KindName: ExpressibleByArgument {
    let kind: ProtectorKind

    init?(argument: String) {
        guard let kind = ProtectorKind(word: argument) else { return nil }
        self.kind = kind
    }

    static let help = "passphrase, recovery-key, credential, key-file, tpm2 or device-key"
    static let defaultCompletionKind = CompletionKind.list(
        ["credential", "device-key", "key-file", "passphrase", "recovery-key", "tpm2"])
}

extension UnlockOptions {
    /// The secret that authorizes a removal. If a prompt is possible, a passphrase or recovery key is requested even if
    /// the vault opens by itself: new keys require it, and it proves that the vault can still be opened.
    func authorityForRemoval(_ vault: Vault) throws(KeychainError) -> ProtectorSecret? {
        let hasPerson = try vault.protectors.contains { $0.kind?.holder == .person }
        guard given == nil, hasPerson, try vault.opensByItself else { return try authority(vault) }
        return Terminal.canAsk ? try secret(vault) : nil
    }

    /// The secret that authorizes a change, if one is needed: given, or asked for.
    ///
    /// - Parameter kind: The kind to add or change; only a passphrase or recovery key can authorize another one.
    func authority(_ vault: Vault, for kind: ProtectorKind? = nil) throws(KeychainError) -> ProtectorSecret? {
        if given == nil, try vault.opensByItself {
            let hasPerson = try vault.protectors.contains { $0.kind?.holder == .person }
            guard hasPerson, kind?.holder == .person else { return nil }
        }
        do throws(KeychainError) {
            return try secret(vault)
        } catch {
            throw try cause(ofNotAsking: error, vault)
        }
    }
}
