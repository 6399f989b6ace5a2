// SPDX-License-Identifier: Apache-2.0
// A simulated user who gives every question the same answer.

public import KeychainEngine
public import SecretMemory
import Synchronization

/// A simulated user who records the reasons of the questions.
public final class Person: Authenticator {
    public let methods: Set<AuthenticationMethod> = [.passphrase]
    private let passphrase: String?
    private let asked = Mutex<[String]>([])

    public var reasons: [String] { asked.withLock { $0 } }

    /// - Parameter passphrase: `nil`: cancels.
    public init(_ passphrase: String?) { self.passphrase = passphrase }

    public func ask(_ question: AuthenticationQuestion) throws(KeychainError) -> AuthenticationAnswer {
        asked.withLock { $0.append(question.reason) }
        guard let passphrase else { throw KeychainError(.cancelled, "A person of a test.") }
        return .secret(SecretBytes(text: passphrase))
    }
}

extension SecretBytes {
    public convenience init(text: String) {
        self.init(count: text.utf8.count) { $0.copyBytes(from: text.utf8) }
    }
}
