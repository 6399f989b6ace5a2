// SPDX-License-Identifier: Apache-2.0
// A person who answers every question the same.

package import KeychainEngine
package import SecretMemory
import Synchronization

package final class Answering: Authenticator {
    package let methods: Set<AuthenticationMethod> = [.passphrase]
    private let answer: String
    private let asked = Mutex(0)

    /// How often they were asked.
    package var count: Int { asked.withLock { $0 } }

    package init(_ answer: String) { self.answer = answer }

    package func ask(_: AuthenticationQuestion) throws(KeychainError) -> AuthenticationAnswer {
        asked.withLock { $0 += 1 }
        return .secret(SecretBytes(text: answer))
    }
}

extension SecretBytes {
    package convenience init(text: String) {
        self.init(count: text.utf8.count) { $0.copyBytes(from: text.utf8) }
    }
}
