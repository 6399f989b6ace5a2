// SPDX-License-Identifier: Apache-2.0
// A person who answers every question the same.

import KeychainEngine
import SecretMemory
import Synchronization

final class Answering: Authenticator {
    let methods: Set<AuthenticationMethod> = [.passphrase]
    private let answer: String
    private let asked = Mutex(0)

    /// How often they were asked.
    var count: Int { asked.withLock { $0 } }

    init(_ answer: String) { self.answer = answer }

    func ask(_: AuthenticationQuestion) throws(KeychainError) -> AuthenticationAnswer {
        asked.withLock { $0 += 1 }
        return .secret(SecretBytes(text: answer))
    }
}

extension SecretBytes {
    convenience init(text: String) {
        self.init(count: text.utf8.count) { $0.copyBytes(from: text.utf8) }
    }
}
