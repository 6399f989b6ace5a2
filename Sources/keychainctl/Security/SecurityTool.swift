// SPDX-License-Identifier: Apache-2.0
// macOS's command `security`: its global flags, its help, and the run of one command.

import Foundation
import KeychainAuthenticators
import KeychainKit
import KeychainVault

enum SecurityTool {
    /// Runs the words after the name of the tool.
    ///
    /// - Returns: The exit code.
    static func run(_ words: [String]) -> Int32 {
        let session = SecuritySession()
        var code = SecurityFailure.usageStatus
        do throws(SecurityFailure) {
            code = try start(words, session)
            try naming("close") { () throws(KeychainError) in try Vault.closeAll() }
        } catch {
            if let text = error.text { session.say(text) }
            // Wrong usage of the tool itself, before any command.
            if error.isUsage { session.say(globalUsage) }
            code = error.exitCode
        }
        return code
    }

    private static func start(_ words: [String], _ session: SecuritySession) throws(SecurityFailure) -> Int32 {
        let options = try SecurityOptions(words, "hilp:qv")
        session.isQuiet = options.has("q")
        session.isVerbose = options.has("v")
        if options.has("i") || options["p"] != nil {
            return exitCode(InteractiveSecurity(session, prompt: options["p"] ?? "security> ").run())
        }
        guard !options.words.isEmpty else {
            try naming("write") { () throws(KeychainError) in try Output.write(globalUsage + "\n") }
            return SecurityFailure.usageStatus
        }
        return exitCode(runCommand(options.words, session))
    }

    private static func exitCode(_ status: Int32) -> Int32 {
        status == 0 ? 0 : SecurityFailure(text: nil, status: status).exitCode
    }

    // MARK: - One command

    /// - Returns: The number that macOS's command returns; 0 for success.
    static func runCommand(_ words: [String], _ session: SecuritySession) -> Int32 {
        guard let name = words.first else { return 0 }
        // Without the words that follow, which may be passwords.
        if session.isVerbose { session.say(quoted(name) + (words.count > 1 ? " …" : "")) }
        guard let command = SecurityCommand.find(name) else {
            if let text = UnsupportedCommand.find(name)?.failure.text {
                session.say(text)
                return 1
            }
            session.say("security: unknown command" + (session.hidesWords ? "" : " \"\(name.escaped)\""))
            return 1
        }
        session.beginCommand()
        do throws(SecurityFailure) {
            try command.run(SecurityCall(session: session, words: Array(words.dropFirst())))
            return 0
        } catch {
            endIfInterrupted()
            if let text = error.text { session.say(text) }
            if error.isUsage { Output.writeToErrors(Data(command.usage.utf8)) }
            return error.status
        }
    }

    /// ^C at a prompt ends the tool by SIGINT itself, as the shell expects.
    private static func endIfInterrupted() {
        guard let number = Terminal.cancellingSignal else { return }
        signal(number, SIG_DFL)
        raise(number)
    }

    private static func quoted(_ word: String) -> String {
        let isPlain = !word.isEmpty && word.utf8.allSatisfy { (0x21...0x7E).contains($0) && !"\"'\\".utf8.contains($0) }
        return isPlain ? word : "\"" + word.escaped + "\""
    }

    // MARK: - Help

    static func help(_ call: SecurityCall) throws(SecurityFailure) {
        let words = try call.options("").words
        guard let name = words.first else {
            return try naming("write") { () throws(KeychainError) in try Output.write(globalUsage + "\n") }
        }
        guard let command = SecurityCommand.find(name) else {
            if let unsupported = UnsupportedCommand.find(name) { throw unsupported.failure }
            throw SecurityFailure(text: "security: no such command: \(name.escaped)", status: 1)
        }
        try naming("write") { () throws(KeychainError) in try Output.write(command.usage) }
    }

    private static var globalUsage: String {
        let width = SecurityCommand.all.map(\.name.count).max() ?? 0
        let rows = SecurityCommand.all.map { command in
            let summary = command.help.split(separator: "\n").first ?? ""
            return "    " + command.name + String(repeating: " ", count: width - command.name.count) + "  " + summary
        }
        return """
            Usage: security [-h] [-i] [-l] [-p prompt] [-q] [-v] [command] [opt ...]
                -i    Run in interactive mode.
                -l    Accepted without effect.
                -p    Set the prompt to "prompt" (implies -i).
                -q    Be less verbose.
                -v    Be more verbose about what's going on.
            security commands are:
            \(rows.joined(separator: "\n"))
            """
    }
}
