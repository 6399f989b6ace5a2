// SPDX-License-Identifier: Apache-2.0
// The selection of the authenticator: by the program, otherwise by the environment.

// Folders, from top to bottom:
//
// - Choice: selecting an authenticator
// - Programs: pinentry and askpass
// - Terminal: the terminal
// - Waiting: waiting for an answer, a cancellation or a signal
// - .: a closure, text that is safe to show, and the errors of questions without an answer

import Foundation
public import KeychainEngine
public import SecretMemory
import Synchronization

extension Authenticators {
    private static let chosen = Mutex<(any Authenticator)?>(nil)

    /// The program's own authenticator, for the whole process. It takes precedence over the environment. `nil` by
    /// default.
    public static var shared: (any Authenticator)? {
        get { chosen.withLock { $0 } }
        set { chosen.withLock { $0 = newValue } }
    }

    /// The authenticator in the environment. A library shows no prompt unless one is set.
    ///
    /// - Returns: `nil` for `none`, or if nothing is set.
    /// - Throws: `invalidParameter` for an unknown word, a missing variable or a path that is not absolute,
    ///   `unavailable` if the program does not exist, `unsafeLocation` if another user may change or replace it.
    public static func configured(
        by environment: [String: String]
    ) throws(KeychainError) -> (any Authenticator)? {
        switch try Word(environment) {
        case nil, .none?: nil
        case .terminal?: TerminalAuthenticator()
        case .pinentry?: PinentryAuthenticator(program: try pinentry(environment))
        case .askpass?: AskpassAuthenticator(program: try askpass(environment))
        }
    }

    /// The authenticator for requests that did not ask for a prompt: `shared`, otherwise that of the environment.
    ///
    /// - Parameter environment: By default, the variables that ``SecretMemory/ProcessEnvironment`` allows for this
    ///   program.
    /// - Throws: The errors of `configured(by:)`.
    public static func current(
        environment: [String: String] = ProcessEnvironment.current
    ) throws(KeychainError) -> (any Authenticator)? {
        if let shared { return shared }
        return try configured(by: environment)
    }

    /// The authenticator for a program that explicitly wants the user to be asked: the current one, otherwise the
    /// terminal if there is one.
    ///
    /// - Returns: `nil` if there is no way to ask, or if the environment says `none`.
    /// - Parameter environment: By default, the variables that ``SecretMemory/ProcessEnvironment`` allows for this
    ///   program.
    /// - Throws: The errors of `configured(by:)`.
    public static func forExplicitRequest(
        environment: [String: String] = ProcessEnvironment.current
    ) throws(KeychainError) -> (any Authenticator)? {
        if let current = try current(environment: environment) { return current }
        if try Word(environment) != nil { return nil }
        return ControllingTerminal.exists ? TerminalAuthenticator() : nil
    }

    /// How the user is asked for a yes or a no: `shared`, otherwise as the environment says.
    ///
    /// - Returns: `nil` if there is no way to ask.
    /// - Throws: The errors of `configured(by:)`.
    package static func forConfirmations() throws(KeychainError) -> (any ConfirmingAuthenticator)? {
        if let shared { return shared as? any ConfirmingAuthenticator }
        return try confirming(by: ProcessEnvironment.current)
    }

    /// The authenticator in the environment, otherwise the program of ssh (`SSH_ASKPASS`), otherwise the terminal if there
    /// is one.
    ///
    /// - Returns: `nil` if there is no way to ask, or for `none`.
    /// - Throws: The errors of `configured(by:)`.
    package static func confirming(
        by environment: [String: String]
    ) throws(KeychainError) -> (any ConfirmingAuthenticator)? {
        if try Word(environment) != nil {
            return try configured(by: environment).flatMap { $0 as? any ConfirmingAuthenticator }
        }
        if let path = environment.value("SSH_ASKPASS"), environment.value("SSH_ASKPASS_REQUIRE") != "never" {
            return AskpassAuthenticator(program: path)
        }
        return ControllingTerminal.exists ? TerminalAuthenticator() : nil
    }

    // MARK: - Programs

    private static func pinentry(_ environment: [String: String]) throws(KeychainError) -> String {
        if let path = environment.value("KEYCHAIN_PINENTRY") {
            try Program(path: path).check()
            return path
        }
        let paths = ["pinentry", "pinentry-curses", "pinentry-tty"].flatMap { name in
            ["/usr/bin", "/usr/local/bin", "/bin"].map { "\($0)/\(name)" }
        }
        if let path = paths.first(where: { access($0, X_OK) == 0 }) {
            try Program(path: path).check()
            return path
        }
        throw KeychainError(
            .unavailable,
            "There is no pinentry program: none of \(paths.joined(separator: ", ")). Install one, or set KEYCHAIN_PINENTRY."
        )
    }

    private static func askpass(_ environment: [String: String]) throws(KeychainError) -> String {
        guard let path = environment.value("KEYCHAIN_ASKPASS") else {
            throw KeychainError(
                .invalidParameter,
                "KEYCHAIN_AUTHENTICATOR is askpass, which needs KEYCHAIN_ASKPASS. Set it to the full path of a program."
            )
        }
        try Program(path: path).check()
        return path
    }
}

/// The value of `KEYCHAIN_AUTHENTICATOR`.
private enum Word: String, CaseIterable {
    case terminal, pinentry, askpass, none

    /// - Returns: `nil` if nothing is set.
    init?(_ environment: [String: String]) throws(KeychainError) {
        guard let word = environment.value("KEYCHAIN_AUTHENTICATOR") else {
            guard environment.value("KEYCHAIN_ASKPASS") != nil else { return nil }
            self = .askpass
            return
        }
        guard let known = Word(rawValue: word) else {
            let words = Self.allCases.map(\.rawValue).joined(separator: ", ")
            throw KeychainError(
                .invalidParameter,
                "KEYCHAIN_AUTHENTICATOR is \"\(word.escapingControls())\". Set it to one of: \(words).")
        }
        self = known
    }
}
