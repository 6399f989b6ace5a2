// SPDX-License-Identifier: Apache-2.0
// What is asked, and by whom.
//
//   terminal|pinentry|askpass|explicit [--program PATH] [--method passphrase|applicationPassword] [--new] [--attempt N]
//       [--reason TEXT] [--cancel-title TEXT] [--timeout SECONDS] [--ignore SIGNAL] [--handle SIGNAL] [--await-signal]
//       [--hold]
//
// With --hold, all threads hold back the signals that a question catches. SIGUSR1 cancels the question. SIGUSR2 forks, and
// sends the child a ^C.

import Crypto
import Foundation
import KeychainAuthenticators
import KeychainEngine
import SecretMemory

struct QuestionOptions: Sendable {
    struct Mistake: Error {}

    private let kind: String
    private var program = ""
    private var isNew = false
    private var method = AuthenticationMethod.passphrase
    private var attempt = 1
    private var reason = "Unlock the vault"
    private var cancelTitle: String?
    private var timeout = Duration.seconds(600)
    private(set) var awaitsSignal = false
    private(set) var holdsSignals = false
    private(set) var ignored: Int32?
    private(set) var handled: Int32?

    init(_ arguments: some Sequence<String>) throws {
        var words = arguments.makeIterator()
        guard let kind = words.next() else { throw Mistake() }
        self.kind = kind
        while let word = words.next() {
            switch word {
            case "--new": isNew = true
            case "--hold": holdsSignals = true
            case "--await-signal": awaitsSignal = true
            default:
                guard let value = words.next() else { throw Mistake() }
                try set(word, value)
            }
        }
    }

    private mutating func set(_ option: String, _ value: String) throws {
        switch option {
        case "--program": program = value
        case "--method": method = value == "passphrase" ? .passphrase : .applicationPassword
        case "--attempt": attempt = Int(value) ?? 1
        case "--reason": reason = value
        case "--cancel-title": cancelTitle = value
        case "--timeout": timeout = .seconds(Int(value) ?? 1)
        case "--ignore": ignored = Int32(value)
        case "--handle": handled = Int32(value)
        default: throw Mistake()
        }
    }

    private func authenticator() throws -> (any Authenticator)? {
        switch kind {
        case "terminal": TerminalAuthenticator(timeout: timeout)
        case "pinentry": PinentryAuthenticator(program: program, timeout: timeout, patience: .seconds(600))
        case "askpass": AskpassAuthenticator(program: program, timeout: timeout)
        case "explicit": try Authenticators.forExplicitRequest()
        default: throw Mistake()
        }
    }

    func ask(_ cancellation: AuthenticationCancellation) -> String {
        let question = AuthenticationQuestion(
            method, isNew: isNew, reason: reason, attempt: attempt, cancelTitle: cancelTitle, cancellation: cancellation
        )
        do {
            guard let authenticator = try authenticator() else { return "nobody" }
            guard case .secret(let secret) = try authenticator.ask(question) else { return "no secret" }
            return "answer \(secret.count) \(secret.fingerprint)"
        } catch let failure as KeychainError {
            return "\(failure.reason): \(failure.message)"
        } catch {
            return "mistake"
        }
    }
}

extension SecretBytes {
    fileprivate var fingerprint: String {
        withUnsafeBytes { bytes in
            SHA256.hash(data: bytes).prefix(4).map { String($0, radix: 16) }.joined(separator: ".")
        }
    }
}
