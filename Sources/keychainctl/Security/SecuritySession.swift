// SPDX-License-Identifier: Apache-2.0
// What the commands of one run of `security` share: the vault, standard input, and the global flags.

import ArgumentParser
import Foundation
import KeychainAuthenticators
import KeychainEngine
import KeychainKit
import KeychainVault
import SecretMemory

final class SecuritySession {
    /// `-q`: no messages.
    var isQuiet = false
    /// `-v`: each command is written to standard error first.
    var isVerbose = false
    /// `-i`: commands come from standard input, where other programs do not see their words.
    var isInteractive = false
    /// A line of a script that was meant for a command before it may be a password.
    var hidesWords: Bool { isInteractive && !Terminal.isTerminal(STDIN_FILENO) }
    let input = LineInput()
    private var hasSaidWhatIsMissing = false
    private var opened: (vault: Vault, catalog: KeychainCatalog, engine: Engine)?

    /// A message on standard error.
    func say(_ text: String) {
        if !isQuiet { Output.writeToErrors(Data((text + "\n").utf8)) }
    }

    /// For values of options that other programs of the machine can read while the command runs.
    func warnOfArgument(_ what: String) {
        guard !isInteractive else { return }
        say(
            "security: Warning: \(what) is an argument of this command, which other programs can see. "
                + "Give it at the prompt, or give the command to `security -i` on standard input.")
    }

    /// A command that lists several classes says only once what is missing.
    func beginCommand() { hasSaidWhatIsMissing = false }

    /// How many items a list lacks because they cannot be read.
    func sayWhatIsMissing() throws(KeychainError) {
        guard !hasSaidWhatIsMissing else { return }
        hasSaidWhatIsMissing = true
        let status = try vault.status()
        for text in Output.closed(damaged: status.damagedCount, ofAnotherDevice: status.ofAnotherDeviceCount) {
            say("security: " + text)
        }
    }

    // MARK: - The vault

    var vault: Vault { get throws(KeychainError) { try open().vault } }
    var catalog: KeychainCatalog { get throws(KeychainError) { try open().catalog } }
    var engine: Engine { get throws(KeychainError) { try open().engine } }

    private func open() throws(KeychainError) -> (vault: Vault, catalog: KeychainCatalog, engine: Engine) {
        if let opened { return opened }
        let environment = ProcessEnvironment.current
        let vault = Vault.at(try .fromEnvironment(environment), try .fromEnvironment(environment))
        try SudoCaller.check(vault.location)
        let store = KeepingStore(vault, .security, isQuiet: isQuiet)
        var catalog = KeychainCatalog(store: store, accessGroups: .unrestricted)
        // The user requested the item, so a prompt for a proof is allowed.
        catalog.context = AuthenticationContext { () throws(KeychainError) in
            try Authenticators.forExplicitRequest()
        }
        let engine = Engine(store: store) { () throws(KeychainError) in try Authenticators.forExplicitRequest() }
        opened = (vault, catalog, engine)
        return (vault, catalog, engine)
    }

    /// Runs `body`; if the vault is locked and there is a terminal, asks for the secret that opens it.
    func unlocking<Result>(_ body: () throws(KeychainError) -> Result) throws(KeychainError) -> Result {
        // Without words, parsing cannot fail.
        guard let options = try? UnlockOptions.parse([]) else { return try body() }
        do throws(KeychainError) {
            return try options.unlocking(vault, body)
        } catch {
            // These commands have none of the options that the message names, if it names any.
            guard error.reason == .locked else { throw error }
            guard try vault.unlockCacheInUse == .process, try !UnlockOptions.ways(vault).isEmpty else { throw error }
            throw KeychainError(
                .locked,
                "The keychain is locked, and here each process must unlock it for itself. Use `security -i`, which runs several commands in "
                    + "one process: unlock-keychain first.\(try UnlockOptions.serviceAdvice(vault))")
        }
    }
}

// MARK: - Secrets that the user enters

extension SecuritySession {
    private static let longestSecret = 1 << 16

    /// A secret: from the terminal without echo, or the next line of standard input where there is no terminal.
    ///
    /// - Throws: `interactionNotAllowed` at the end of input.
    func secret(_ question: String) throws(KeychainError) -> Data {
        if Terminal.canAsk {
            let secret = try Terminal.ask { (terminal) throws(KeychainError) in try terminal.line(question) }
            return secret.map { $0.withUnsafeBytes { Data($0) } } ?? Data()
        }
        return try line(question, limit: Self.longestSecret)
    }

    /// A name, which may be shown.
    func name(_ question: String) throws(KeychainError) -> String {
        let bytes = try line(question, limit: Self.longestSecret)
        guard let name = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else {
            throw KeychainError(.invalidParameter, "The name on standard input is not valid UTF-8.")
        }
        return name
    }

    private func line(_ question: String, limit: Int) throws(KeychainError) -> Data {
        Output.prompt(question)
        if let line = try input.line(limit: limit) { return line }
        throw KeychainError(
            .interactionNotAllowed, "There is no terminal to ask on, and standard input ended. Nothing was changed.")
    }

    private static let tries = 3

    /// A secret that is entered twice.
    ///
    /// - Throws: After three different pairs, or at the end of input, exit code 1.
    func newSecret(_ question: String, again: String) throws(SecurityFailure) -> Data {
        for _ in 1...Self.tries {
            var first = try naming("prompt") { () throws(KeychainError) in try secret(question) }
            var second = Data()
            defer { second.wipe() }
            do throws(KeychainError) {
                second = try secret(again)
            } catch {
                first.wipe()
                guard error.reason == .interactionNotAllowed, !Terminal.canAsk else {
                    throw SecurityFailure("prompt", error)
                }
                throw Self.hasNoSecondEntry
            }
            if first == second { return first }
            first.wipe()
            say("passwords don't match")
        }
        throw SecurityFailure(text: "security: The entries differ. Nothing was changed.", status: 1)
    }

    private static let hasNoSecondEntry = SecurityFailure(
        text: "security: Standard input ended before the second entry. Nothing was changed. Give it on two lines.",
        status: 1)
}

extension String {
    /// Safe to show on a terminal.
    var escaped: String { escapingControls() }
}
