// SPDX-License-Identifier: Apache-2.0
// The passphrase of a file: asked for, or read from a descriptor.

import Foundation
import KeychainKit
import SecretMemory

enum ArchivePassphrase {
    private static let short = 8
    /// Longer than any that a user can enter, and than the vault's own.
    private static let longest = 1024

    static func askTwice(_ question: String) throws(KeychainError) -> SecretBytes {
        try toldAboutOption { () throws(KeychainError) in try SecretInput.askTwice(question) }
    }

    static func ask(_ question: String) throws(KeychainError) -> SecretBytes {
        try toldAboutOption { () throws(KeychainError) in try SecretInput.ask(question) }
    }

    /// - Throws: `invalidParameter` for what nobody could type again.
    static func check(_ secret: SecretBytes) throws(KeychainError) {
        let isText = secret.withUnsafeBytes { bytes in
            bytes.count <= longest && !bytes.contains { $0 < 0x20 || $0 == 0x7F }
                && String(validating: bytes, as: UTF8.self) != nil
        }
        guard isText else {
            throw KeychainError(
                .invalidParameter,
                "A passphrase of a file is UTF-8 text of one line, at most \(longest) bytes long. Nothing was written.")
        }
        if secret.count < short {
            Output.note(
                "Warning: this passphrase is short. Someone with a copy of the file may guess it. Use several words.")
        }
    }

    private static func toldAboutOption<Result>(
        _ body: () throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        do throws(KeychainError) {
            return try body()
        } catch {
            guard error.reason == .interactionNotAllowed else { throw error }
            throw KeychainError(
                .interactionNotAllowed,
                "There is no terminal to ask for the passphrase of the file on. Pass it on a descriptor, for example "
                    + "with --file-passphrase-fd 3.")
        }
    }
}
