// SPDX-License-Identifier: Apache-2.0
// The terminal, for a question that no item answers.

import Foundation
import KeychainAuthenticators
import KeychainKit
import SecretMemory

enum AskpassTerminal {
    private static let longestAnswer = 4096

    static var canAsk: Bool {
        Terminal.canAsk && ProcessEnvironment.current.value("KEYCHAIN_AUTHENTICATOR") != "none"
    }

    /// - Returns: `nil` for an empty line.
    static func hiddenAnswer(_ question: String) throws(KeychainError) -> SecretBytes? {
        try Terminal.ask { (terminal) throws(KeychainError) in
            let lines = question.split(separator: "\n", omittingEmptySubsequences: false)
            for line in lines.dropLast() { terminal.say(String(line).escapingControls() + "\n") }
            return try terminal.line(String(lines.last ?? ""))
        }
    }

    /// An answer that is no secret, such as yes or a name: what is typed is shown.
    static func shownAnswer(_ question: String) throws(KeychainError) -> String {
        let terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard terminal >= 0 else {
            throw KeychainError(.interactionNotAllowed, "There is no terminal to ask on.")
        }
        defer { close(terminal) }
        let shown = Array(question.escapingControls(keeping: "\n").utf8)
        guard write(terminal, shown, shown.count) == shown.count else { throw noAnswer }
        var answer: [UInt8] = []
        var byte: UInt8 = 0
        while answer.count < longestAnswer {
            let count = Foundation.read(terminal, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { throw noAnswer }
            if byte == UInt8(ascii: "\n") { return String(decoding: answer, as: UTF8.self) }
            answer.append(byte)
        }
        throw KeychainError(.tooLarge, "The answer is too long.")
    }

    private static let noAnswer = KeychainError(.cancelled, "The question was not answered.")
}
