// SPDX-License-Identifier: Apache-2.0
// security -i: commands from standard input, line by line.

import Foundation
import KeychainAuthenticators
import KeychainKit

struct InteractiveSecurity {
    /// The limits of macOS's command.
    private static let longestLine = 4096
    private static let mostWords = 32

    private let session: SecuritySession
    private let prompt: String

    init(_ session: SecuritySession, prompt: String) {
        (self.session, self.prompt) = (session, prompt)
        session.isInteractive = true
    }

    /// - Returns: The result of the last command, as with macOS.
    func run() -> Int32 {
        var status: Int32 = 0
        let isTerminal = Terminal.isTerminal(STDIN_FILENO)
        while true {
            if isTerminal { Output.prompt(prompt) }
            do throws(SecurityFailure) {
                guard
                    var line = try naming(
                        "stdin",
                        { () throws(KeychainError) in
                            try session.input.line(limit: Self.longestLine)
                        })
                else { return status }
                defer { line.wipe() }
                let words = try Self.words(line)
                guard let name = words.first else { continue }
                if ["quit", "exit"].contains(name) { return status }
                status = SecurityTool.runCommand(words, session)
                let isShown = !session.hidesWords || SecurityCommand.find(name) != nil
                if status != 0 { session.say("\(isShown ? name.escaped : "line"): returned \(status)") }
            } catch {
                if let text = error.text { session.say(text) }
                status = error.status
                // A line that is too long was skipped; other errors of standard input would come again.
                if error.status != KeychainError(.tooLarge, "").status, error.status != 1 { return status }
            }
        }
    }

    // MARK: - Words

    /// Splits a line as macOS's command does: quotes and backslashes, no variables or comments.
    ///
    /// - Throws: If the line is not text, a quote is open, or there are too many words. The message has no part of it.
    static func words(_ line: Data) throws(SecurityFailure) -> [String] {
        guard !line.contains(0), String(validating: line, as: UTF8.self) != nil else {
            throw SecurityFailure(text: "security: a line on standard input is not valid UTF-8", status: 1)
        }
        var (words, word, quote): ([String], [UInt8]?, UInt8?) = ([], nil, nil)
        var bytes = line[...]
        while let byte = bytes.popFirst() {
            switch byte {
            case UInt8(ascii: "\\") where quote != UInt8(ascii: "'"):
                if let next = bytes.popFirst() { word = (word ?? []) + [next] }
            case _ where byte == quote: quote = nil
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                if quote == nil { (quote, word) = (byte, word ?? []) } else { word?.append(byte) }
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"):
                guard quote == nil else {
                    word?.append(byte)
                    continue
                }
                if let word { words.append(String(decoding: word, as: UTF8.self)) }
                word = nil
            default: word = (word ?? []) + [byte]
            }
        }
        guard quote == nil else {
            throw SecurityFailure(text: "security: a line on standard input has an open quote", status: 1)
        }
        if let word { words.append(String(decoding: word, as: UTF8.self)) }
        guard words.count <= mostWords else {
            throw SecurityFailure(
                text: "security: a line on standard input has more than \(mostWords) words", status: 1)
        }
        return words
    }
}
