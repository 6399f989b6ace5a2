// SPDX-License-Identifier: Apache-2.0
// Files of private keys: reading them in every format, and writing PKCS#8.

import ArgumentParser
import Foundation
import KeychainAuthenticators
import KeychainKeyStore
import KeychainKeys
import KeychainKit
import KeychainVault
import SecretMemory

/// The passphrase of a file with a key: asked for on the terminal, or read from a descriptor.
struct KeyFilePassphraseOptions: ParsableArguments {
    /// It is text, not a number: the parser would quote an invalid number in its message, and it might be a secret.
    @Option(help: ArgumentHelp("Read the passphrase of the file from this open descriptor.", valueName: "number"))
    var filePassphraseFd: String?

    func validate() throws { try Descriptors.check(["--file-passphrase-fd": filePassphraseFd]) }

    func check(apartFrom unlock: UnlockOptions) throws {
        guard let descriptor, unlock.uses(descriptor) else { return }
        throw ValidationError(
            "The passphrase of the file and the secret that opens the vault use the same descriptor. Use two.")
    }

    /// - Parameter file: The file to read; `nil`: standard input.
    func check(apartFrom unlock: UnlockOptions, reading file: String?) throws {
        try check(apartFrom: unlock)
        guard file == nil, unlock.uses(STDIN_FILENO) || descriptor == STDIN_FILENO else { return }
        throw ValidationError("The file and a secret both come from standard input. Name the file.")
    }

    var descriptor: Int32? { filePassphraseFd.flatMap(Descriptors.number) }

    /// The passphrase of an existing file.
    func passphrase() throws(KeychainError) -> SecretBytes {
        guard let descriptor else { return try ArchivePassphrase.ask("Passphrase of the file: ") }
        return try SecretInput.read(descriptor).withoutFinalNewline()
    }

    func newPassphrase() throws(KeychainError) -> SecretBytes {
        guard descriptor == nil else {
            let secret = try passphrase()
            try ArchivePassphrase.check(secret)
            return secret
        }
        let secret = try ArchivePassphrase.askTwice("New passphrase of the file: ")
        try ArchivePassphrase.check(secret)
        return secret
    }
}

enum KeyFile {
    /// Larger than a PEM text of the largest key. Such a file is a mistake.
    private static let limit = 64 << 10

    /// - Parameter path: `nil`: standard input.
    static func key(
        _ path: String?, _ passphrase: KeyFilePassphraseOptions
    ) throws(KeychainError) -> PrivateKey {
        let bytes = try read(path, limit: limit, expected: "file of keys")
        do throws(KeyFailure) {
            return try key(bytes, nil)
        } catch {
            guard error == .passphraseRequired else { throw error.inKeychainWords("The file") }
        }
        // Asked for only if the file needs it.
        let secret = try passphrase.passphrase()
        do throws(KeyFailure) {
            return try key(bytes, secret)
        } catch {
            throw error.inKeychainWords("The file")
        }
    }

    /// The content decides on the format, since names and labels are often wrong.
    private static func key(_ bytes: SecretBytes, _ passphrase: SecretBytes?) throws(KeyFailure) -> PrivateKey {
        bytes.withUnsafeBytes { $0.isDER }
            ? try PrivateKey(der: bytes, passphrase: passphrase) : try PrivateKey(pem: bytes, passphrase: passphrase)
    }

    /// A whole file.
    ///
    /// - Parameters:
    ///   - path: `nil`: standard input.
    ///   - expected: What the file should be.
    static func read(_ path: String?, limit: Int, expected: String) throws(KeychainError) -> SecretBytes {
        guard let path else {
            guard !Terminal.isTerminal(STDIN_FILENO) else {
                throw KeychainError(
                    .invalidParameter, "Standard input is a terminal. Name the file, or give it on a pipe.")
            }
            return try read(STDIN_FILENO, "standard input", limit, expected)
        }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else {
            throw KeychainError(.inputOutput, "Could not read '\(path)': \(String(cString: strerror(errno))).")
        }
        defer { close(descriptor) }
        return try read(descriptor, "'\(path)'", limit, expected)
    }

    /// Directly into secret memory.
    private static func read(
        _ descriptor: Int32, _ name: String, _ limit: Int, _ expected: String
    ) throws(KeychainError) -> SecretBytes {
        var count = 0
        let buffer = SecretBytes(count: limit + 1) { count = Descriptors.fill($0, from: descriptor) }
        guard count >= 0 else {
            throw KeychainError(.inputOutput, "Could not read \(name): \(String(cString: strerror(Int32(-count)))).")
        }
        guard count <= limit else {
            throw KeychainError(.tooLarge, "\(name) is longer than \(limit) bytes, so it is no \(expected).")
        }
        return buffer.withUnsafeBytes { SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }

    /// PKCS#8 in PEM.
    ///
    /// - Parameter passphrase: `nil`: in clear text.
    static func text(of key: PrivateKey, _ passphrase: SecretBytes?) throws(KeychainError) -> SecretBytes {
        do throws(KeyFailure) {
            return try key.pem(passphrase: passphrase)
        } catch {
            throw error.inKeychainWords("The key")
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Whether a key is in DER rather than in a text. DER begins with the tag of a sequence, which in a text is the digit 0.
    /// No text has the first byte of a long length behind it; a short length is exactly the number of the bytes that follow.
    fileprivate var isDER: Bool {
        guard count > 1, self[0] == 0x30 else { return false }
        return (0x81...0x84).contains(self[1]) || Int(self[1]) == count - 2
    }
}
