// SPDX-License-Identifier: Apache-2.0
// Checking the user's input: not empty, and for a new secret entered twice. Also the texts of the prompts.

import KeychainEngine
import SecretMemory

/// The prompt that the user sees for one entry.
struct Prompt {
    /// The reason, without control characters.
    let reason: String
    /// Such as "Passphrase:".
    let label: String
    /// The problem with the previous entry.
    let complaint: String?
    /// Whether this is the second entry of a new secret.
    let isRepetition: Bool
}

/// The user's input.
struct Entry {
    /// `nil` if the user entered nothing.
    let secret: SecretBytes?
    /// Whether the authenticator has already asked twice.
    var wasRepeated = false
}

extension AuthenticationQuestion {
    /// Enough for a dialogue. It also limits how often a broken program is run.
    private static let tries = 3
    static let repetition = "Enter it again:"
    static let difference = "The two entries differ."

    /// Asks until there is an answer.
    ///
    /// - Throws: The errors of `ask`, and `cancelled` after three entries that are not an answer.
    func settle(
        methods: Set<AuthenticationMethod>, _ ask: (Prompt) throws(KeychainError) -> Entry
    ) throws(KeychainError) -> AuthenticationAnswer {
        guard methods.contains(method) else {
            throw KeychainError(.unavailable, "Only a secret can be asked for here, not biometry.")
        }
        var complaint = attempt > 1 ? "Wrong \(noun), try again." : nil
        for _ in 1...Self.tries {
            let entry = try ask(prompt(complaint))
            guard let secret = entry.secret else {
                complaint = "Nothing was entered."
                continue
            }
            guard isNew, !entry.wasRepeated else { return .secret(secret) }
            if try ask(repetition).secret?.holdsSameBytes(as: secret) == true { return .secret(secret) }
            complaint = Self.difference
        }
        throw KeychainError(.cancelled, "\(complaint ?? "No answer.") Given up after \(Self.tries) tries.")
    }

    private var noun: String { method == .applicationPassword ? "password" : "passphrase" }

    private func prompt(_ complaint: String?) -> Prompt {
        let label = (isNew ? "New \(noun):" : noun.capitalizedFirst + ":")
        return Prompt(reason: reason.escapingControls(), label: label, complaint: complaint, isRepetition: false)
    }

    private var repetition: Prompt {
        Prompt(reason: reason.escapingControls(), label: Self.repetition, complaint: nil, isRepetition: true)
    }
}

extension String {
    fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
