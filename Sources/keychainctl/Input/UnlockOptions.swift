// SPDX-License-Identifier: Apache-2.0
// The options for a secret that opens the vault, and unlocking with it.

import ArgumentParser
import Foundation
import KeychainAuthenticators
import KeychainKit
import KeychainVault
import SecretMemory

/// The source of a secret.
enum SecretSource: Equatable {
    case terminal
    case descriptor(Int32)
    case file(String)
    /// The library finds it on this machine.
    case machine
    /// A TPM of this machine; the PIN comes from the descriptor, otherwise the user enters it if there is one.
    case hardware(pin: Int32?)

    /// - Parameter question: The question at the terminal.
    func secret(
        of kind: ProtectorKind, _ vault: Vault, question: String
    ) throws(KeychainError) -> ProtectorSecret {
        switch self {
        case .terminal: return ProtectorSecret(kind, try SecretInput.ask(question))
        case .file(let path): return ProtectorSecret(kind, try vault.readKeyFile(path))
        case .machine: return ProtectorSecret(kind)
        case .hardware(let descriptor?):
            return ProtectorSecret(kind, try SecretInput.read(descriptor).withoutFinalNewline())
        case .hardware(nil):
            let needsPIN = try vault.protectors.contains { $0.kind == kind && $0.needsPIN }
            return ProtectorSecret(kind, needsPIN ? try SecretInput.ask("PIN of the TPM: ") : nil)
        case .descriptor(let descriptor):
            let bytes = try SecretInput.read(descriptor)
            return ProtectorSecret(kind, kind.input == .bytes ? bytes : try bytes.withoutFinalNewline())
        }
    }
}

struct UnlockOptions: ParsableArguments {
    /// These are text, not numbers: the parser would quote an invalid number in its message, and it might be a secret.
    @Option(help: ArgumentHelp("Read the passphrase from this open descriptor.", valueName: "number"))
    var passphraseFd: String?

    @Flag(help: "Ask for the recovery key instead of the passphrase.")
    var recoveryKey = false

    @Option(help: ArgumentHelp("Read the recovery key from this open descriptor.", valueName: "number"))
    var recoveryKeyFd: String?

    @Option(help: ArgumentHelp("Use the key in this file.", valueName: "path"), completion: .file())
    var keyFile: String?

    @Option(help: ArgumentHelp("Read the key of a key file from this open descriptor.", valueName: "number"))
    var keyFd: String?

    @Flag(help: "Use the credential 'swift-keychain.key' that systemd gave to this service (LoadCredential=).")
    var credential = false

    @Flag(help: "Use the TPM of this machine; asks for its PIN if there is one.")
    var tpm2 = false

    @Option(help: ArgumentHelp("Read the PIN of the TPM from this open descriptor.", valueName: "number"))
    var pinFd: String?

    func validate() throws {
        try Descriptors.check([
            "--passphrase-fd": passphraseFd, "--recovery-key-fd": recoveryKeyFd, "--key-fd": keyFd, "--pin-fd": pinFd,
        ])
        guard tpm2 || pinFd == nil else { throw ValidationError("--pin-fd can only be used with --tpm2.") }
        guard all.count < 2 else { throw ValidationError("Give one secret that opens the vault, not several.") }
    }

    /// The given secret and its source; `nil` if none was given.
    var given: (kind: ProtectorKind, source: SecretSource)? { all.first }

    private var all: [(kind: ProtectorKind, source: SecretSource)] {
        let found: [(kind: ProtectorKind, source: SecretSource?)] = [
            (.passphrase, passphraseFd.flatMap(Descriptors.number).map { .descriptor($0) }),
            (.recoveryKey, recoveryKey ? .terminal : nil),
            (.recoveryKey, recoveryKeyFd.flatMap(Descriptors.number).map { .descriptor($0) }),
            (.keyFile, keyFile.map { .file($0) }),
            (.keyFile, keyFd.flatMap(Descriptors.number).map { .descriptor($0) }),
            (.credential, credential ? .machine : nil),
            (.tpm, tpm2 ? .hardware(pin: pinFd.flatMap(Descriptors.number)) : nil),
        ]
        return found.compactMap { kind, source in source.map { (kind, $0) } }
    }

    /// The descriptor that the secret comes from.
    var descriptor: Int32? {
        switch given?.source {
        case .descriptor(let number), .hardware(let number?): number
        default: nil
        }
    }

    /// Whether the secret comes from this descriptor.
    func uses(_ descriptor: Int32) -> Bool { self.descriptor == descriptor }
}

/// Numbers of descriptors on the command line.
enum Descriptors {
    static func number(_ text: String) -> Int32? { Int32(text).flatMap { $0 < 0 ? nil : $0 } }

    static func check(_ options: [String: String?]) throws {
        for (option, text) in options where text.map({ number($0) == nil }) ?? false {
            throw ValidationError("\(option) takes the number of an open descriptor.")
        }
    }
}

// MARK: - Unlocking

extension UnlockOptions {
    private static let tries = 3

    /// The given secret, or one that the user enters.
    func secret(_ vault: Vault) throws(KeychainError) -> ProtectorSecret {
        let (kind, source): (ProtectorKind, SecretSource)
        if let given { (kind, source) = given } else { (kind, source) = (try Self.kindToAskFor(vault), .terminal) }
        do throws(KeychainError) {
            return try source.secret(of: kind, vault, question: Self.question(kind))
        } catch {
            throw try failure(ofAskingFor: kind, error, vault)
        }
    }

    /// Tries to unlock with the given secret. At a prompt the user has three tries.
    func unlock(
        _ vault: Vault, _ body: (ProtectorSecret) throws(KeychainError) -> Void
    ) throws(KeychainError) {
        try checkIsNotAskedInVain(for: "the vault in '\(vault.location.folder)'", try vault.protectors)
        try tryGiven(vault, body)
    }

    /// - Throws: `authenticationFailed` if the user would be asked for a secret of a kind that is not among these.
    func checkIsNotAskedInVain(for name: String, _ slots: [VaultStatus.Slot]) throws(KeychainError) {
        guard let given, given.source == .terminal, !slots.isEmpty, !slots.contains(where: { $0.kind == given.kind })
        else { return }
        throw KeychainError(
            .authenticationFailed,
            "No \(given.kind.name) opens \(name), so there was no prompt. Give a secret that opens it (see --help).")
    }

    /// The same for a possible backup, which may open with other secrets than the vault.
    func tryGiven(
        _ vault: Vault, _ body: (ProtectorSecret) throws(KeychainError) -> Void
    ) throws(KeychainError) {
        for attempt in 1...Self.tries {
            do throws(KeychainError) {
                return try body(try secret(vault))
            } catch {
                // The checksum detects a mistyped recovery key as an input error.
                let isWrong = [.authenticationFailed, .invalidParameter].contains(error.reason)
                guard isWrong, attempt < Self.tries, given?.source ?? .terminal == .terminal else {
                    throw try cause(ofNotAsking: error, vault)
                }
                Output.note("That does not open the vault. Try again.")
            }
        }
    }

    /// The failure, or its cause if nobody could be asked for a secret: the credential should have opened the vault.
    func cause(ofNotAsking failure: KeychainError, _ vault: Vault) throws(KeychainError) -> KeychainError {
        guard given == nil, failure.reason == .interactionNotAllowed, let path = try vault.wrongCredential else {
            return failure
        }
        return KeychainError(
            .authenticationFailed, "The credential '\(path)' does not open this vault. \(failure.message)")
    }

    /// Runs `body` with an open vault. Unlocks the vault for this process first if a secret was given; otherwise, if it
    /// is locked and there is a terminal, asks for one.
    func unlocking<Result>(
        _ vault: Vault, _ body: () throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        if given != nil { try unlockForThisProcess(vault) }
        do throws(KeychainError) {
            return try body()
        } catch {
            guard error.reason == .locked, given == nil else { throw error }
            guard Self.mayAsk else { throw try Self.locked(vault, vault.cause(of: error)) }
            try unlockForThisProcess(vault)
            return try body()
        }
    }

    /// Standard input may be a pipe, since the question is shown on the terminal. Unattended scripts set `none`.
    private static var mayAsk: Bool {
        Terminal.canAsk && ProcessEnvironment.current.value("KEYCHAIN_AUTHENTICATOR") != "none"
    }

    private func unlockForThisProcess(_ vault: Vault) throws(KeychainError) {
        try unlock(vault) { (secret) throws(KeychainError) in try vault.unlock(secret, keepingKeysIn: .process) }
    }

    private static func kindToAskFor(_ vault: Vault) throws(KeychainError) -> ProtectorKind {
        let kinds = try vault.protectors.compactMap(\.kind)
        if let kind = [ProtectorKind.passphrase, .recoveryKey].first(where: kinds.contains) { return kind }
        let names = kinds.filter { $0 != .deviceKey }.map(\.name).joined(separator: ", ")
        let advice =
            if names == ProtectorKind.credential.name {
                credentialAdvice + " Run the command in that service."
            } else if !names.isEmpty {
                "It opens with: \(names). Give that with an option (see --help)."
            } else if kinds.contains(.deviceKey) {
                "To add one: keychainctl protect add passphrase"
            } else {
                "It opens with a kind made by a newer version. Use that version."
            }
        throw KeychainError(.interactionNotAllowed, "The vault has no passphrase or recovery key to ask for. " + advice)
    }

    private static func question(_ kind: ProtectorKind) -> String {
        (kind == .recoveryKey ? "Recovery key" : "Passphrase") + " of the keychain: "
    }
}
