// SPDX-License-Identifier: Apache-2.0
// The source of a value: the terminal, standard input or a descriptor, never an argument or the environment.

import ArgumentParser
import Foundation
import KeychainAuthenticators
import KeychainKit
import SecretMemory

struct ValueOptions: ParsableArguments {
    /// It is text, not a number: the parser would quote an invalid number in its message, and it might be the value.
    @Option(help: ArgumentHelp("Read the value from this open descriptor, to its end.", valueName: "number"))
    var fromFd: String?

    @Flag(help: "Allow an empty value, which is otherwise refused.")
    var allowEmpty = false

    func validate() throws {
        guard fromFd == nil || descriptor != nil else {
            throw ValidationError("--from-fd takes the number of an open descriptor.")
        }
    }

    private var descriptor: Int32? { fromFd.flatMap(Descriptors.number) }

    /// The descriptor to read the value from; `nil` if the user is asked.
    var source: Int32? { descriptor ?? (Terminal.isTerminal(STDIN_FILENO) ? nil : STDIN_FILENO) }

    /// The value, unchanged.
    ///
    /// - Parameter name: The subject of the question at the terminal.
    func readValue(for name: String) throws(KeychainError) -> Data {
        let value = try ValueSource(descriptor: descriptor).value(for: name)
        guard !value.isEmpty || allowEmpty else {
            throw KeychainError(
                .invalidParameter,
                "The value is empty, so nothing was stored. Perhaps the command that writes the value failed. "
                    + "To store an empty value, add --allow-empty.")
        }
        return value
    }
}

private enum ValueSource {
    case terminal
    case descriptor(Int32)

    private static let tries = 3
    /// A larger input is a mistake (a device, a wrong file), and must not fill the memory first.
    private static let limit = 64 << 20

    init(descriptor: Int32?) {
        let isAsking = descriptor == nil && Terminal.isTerminal(STDIN_FILENO)
        self = isAsking ? .terminal : .descriptor(descriptor ?? STDIN_FILENO)
    }

    func value(for name: String) throws(KeychainError) -> Data {
        switch self {
        case .terminal: try Self.asked(for: name)
        case .descriptor(let descriptor): try Self.read(descriptor)
        }
    }

    // MARK: - The user

    private static func asked(for name: String) throws(KeychainError) -> Data {
        do throws(KeychainError) {
            let secret = try Terminal.ask { (terminal) throws(KeychainError) in
                try sameTwice(for: name, terminal)
            }
            return secret.map { $0.withUnsafeBytes { Data($0) } } ?? Data()
        } catch {
            throw inWordsOfTheTool(error)
        }
    }

    /// - Returns: `nil` for an empty value.
    private static func sameTwice(for name: String, _ terminal: Terminal) throws(KeychainError) -> SecretBytes? {
        for _ in 1...tries {
            let value = try terminal.line("Value for \(name): ")
            let again = try terminal.line("Enter it again: ")
            switch (value, again) {
            case (nil, nil): return nil
            case (let value?, let again?) where value.holdsSameBytes(as: again): return value
            default: terminal.say("The two entries differ.\n")
            }
        }
        throw KeychainError(.cancelled, "The two entries differed \(tries) times.")
    }

    /// Adds advice for this tool, which the authenticator does not know.
    private static func inWordsOfTheTool(_ failure: KeychainError) -> KeychainError {
        switch failure.reason {
        case .cancelled: KeychainError(.cancelled, failure.message + " Nothing was stored.")
        case .tooLarge: KeychainError(.tooLarge, failure.message + " Give a longer value on standard input.")
        case .interactionNotAllowed, .unavailable:
            KeychainError(.unavailable, failure.message + " Give the value on standard input, or with --from-fd.")
        default: failure
        }
    }

    // MARK: - A pipe or a file

    private static func read(_ descriptor: Int32) throws(KeychainError) -> Data {
        guard !Terminal.isTerminal(descriptor) else {
            throw KeychainError(
                .invalidParameter,
                "Descriptor \(descriptor) is a terminal, which would show the value. To get a prompt, omit --from-fd.")
        }
        return try Descriptors.readAll(
            descriptor, limit: limit,
            tooLarge: KeychainError(.tooLarge, "The value is longer than \(limit >> 20) MiB; nothing was stored."),
            failure: { Descriptors.failure($0, descriptor) })
    }
}

extension Data {
    /// Overwrites the bytes, unless another owner still shares them.
    mutating func wipe() { resetBytes(in: startIndex..<endIndex) }
}
