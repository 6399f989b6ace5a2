// SPDX-License-Identifier: Apache-2.0
// The source of the secret that opens the vault: the terminal, a descriptor or a file. It is read directly into secret
// memory.

import Foundation
import KeychainAuthenticators
import KeychainKit
import KeychainVault
import SecretMemory

enum SecretInput {
    private static let tries = 3
    /// More than any passphrase or key has. The code that knows its kind rejects a longer one.
    private static let limit = 8192

    // MARK: - The user

    /// - Throws: `interactionNotAllowed` without a terminal, `cancelled`.
    static func ask(_ question: String) throws(KeychainError) -> SecretBytes {
        try onTerminal { (terminal) throws(KeychainError) in try line(terminal, question) }
    }

    /// A secret to set: the user is asked until two entries are equal.
    static func askTwice(_ question: String) throws(KeychainError) -> SecretBytes {
        try onTerminal { (terminal) throws(KeychainError) in
            for _ in 1...tries {
                let secret = try line(terminal, question)
                if try line(terminal, "Enter it again: ").holdsSameBytes(as: secret) { return secret }
                terminal.say("The two entries differ.\n")
            }
            throw KeychainError(.cancelled, "The two entries differed \(tries) times; nothing was changed.")
        }
    }

    private static func line(_ terminal: Terminal, _ question: String) throws(KeychainError) -> SecretBytes {
        guard let line = try terminal.line(question) else {
            throw KeychainError(.cancelled, "Nothing was entered; nothing was changed.")
        }
        return line
    }

    private static func onTerminal<Answer>(
        _ dialogue: (Terminal) throws(KeychainError) -> Answer
    ) throws(KeychainError) -> Answer {
        do throws(KeychainError) {
            return try Terminal.ask(dialogue)
        } catch {
            guard error.reason == .interactionNotAllowed else { throw error }
            throw KeychainError(
                .interactionNotAllowed,
                "There is no terminal to ask on. Pass the secret on a descriptor, for example with --passphrase-fd 3.")
        }
    }

    // MARK: - A descriptor

    /// All bytes of an open descriptor.
    static func read(_ descriptor: Int32) throws(KeychainError) -> SecretBytes {
        guard !Terminal.isTerminal(descriptor) else {
            throw KeychainError(
                .invalidParameter,
                "Descriptor \(descriptor) is a terminal, which would show the secret. To get a prompt, omit the option."
            )
        }
        var count = 0
        let buffer = SecretBytes(count: limit + 1) { count = Descriptors.fill($0, from: descriptor) }
        guard count >= 0 else { throw Descriptors.failure(Int32(-count), descriptor) }
        guard count > 0 else {
            throw KeychainError(
                .invalidParameter, "Descriptor \(descriptor) contained no data; nothing was changed.")
        }
        guard count <= limit else {
            throw KeychainError(
                .tooLarge, "The secret on descriptor \(descriptor) is longer than \(limit) bytes. Give a shorter one.")
        }
        return buffer.first(count)
    }
}

extension SecretBytes {
    /// Without the newline that `echo` and editors append.
    func withoutFinalNewline() throws(KeychainError) -> SecretBytes {
        let hasNewline = withUnsafeBytes { $0.last == UInt8(ascii: "\n") }
        guard hasNewline else { return self }
        guard count > 1 else {
            throw KeychainError(.invalidParameter, "The secret is an empty line; nothing was changed.")
        }
        return first(count - 1)
    }

    fileprivate func first(_ length: Int) -> SecretBytes {
        withUnsafeBytes { SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[..<length])) }
    }
}
