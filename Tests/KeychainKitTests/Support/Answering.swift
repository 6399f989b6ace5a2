// SPDX-License-Identifier: Apache-2.0
// A person who answers every question the same.

import KeychainEngine
import SecretMemory

struct Answering: Authenticator {
    let methods: Set<AuthenticationMethod> = [.passphrase]
    private let answer: String

    init(_ answer: String) { self.answer = answer }

    func ask(_: AuthenticationQuestion) throws(KeychainError) -> AuthenticationAnswer {
        .secret(SecretBytes(text: answer))
    }
}

extension SecretBytes {
    convenience init(text: String) {
        self.init(count: text.utf8.count) { $0.copyBytes(from: text.utf8) }
    }
}
