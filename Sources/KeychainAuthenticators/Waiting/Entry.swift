// SPDX-License-Identifier: Apache-2.0
// From what a person enters to an answer: not empty, and for a new secret twice the same. And the words for it.

import KeychainEngine
import SecretMemory

/// What a person is shown for one entry.
struct Prompt {
    /// What for; without control characters.
    let reason: String
    /// Such as "Passphrase:".
    let label: String
    /// What was wrong with the entry before.
    let complaint: String?
    /// Whether this is the second entry of a new secret.
    let isRepetition: Bool
}

/// What a person entered.
struct Entry {
    /// `nil` if nothing was.
    let secret: SecretBytes?
    /// Whether whoever asked has had it entered twice already.
    var wasRepeated = false
}

extension AuthenticationQuestion {
    /// Enough for a dialogue; it also keeps a broken program from being run without end.
    private static let tries = 3
    static let repetition = "The same again:"
    static let difference = "The two entries differ."

    /// Asks until there is an answer.
    ///
    /// - Throws: What `ask` throws, and `cancelled` after three entries that are no answer.
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
