// SPDX-License-Identifier: Apache-2.0
// What a TPM answers, or something between it and this program.

import Foundation
import KeychainEngine
import SecretMemory

@testable import KeychainKeys
@testable import KeychainTPM

enum TPMAnswers {
    private static let digest = Data(repeating: 5, count: 32)

    /// One operation, whose answers the input makes.
    static func answers(_ bytes: Data) {
        stored(bytes)
        var input = FuzzInput(bytes)
        let operation = input.byte() % 4
        let tpm = FalseTPM(input)
        let token = TPMToken(tpm, patience: .zero)
        switch operation {
        case 0: if let key = try? token.makeKey() { check(key) }
        case 1:
            let signature = try? token.sign(digest, of: .sha256, with: FalseTPM.key)
            require(signature.map { $0.count == 64 } ?? true, "a signature is two numbers at full width")
        case 2:
            let secret = try? token.agree(with: FalseTPM.point, object: FalseTPM.key)
            require(secret.map { $0.count == 32 } ?? true, "a shared secret is one coordinate")
        default:
            let secret = try? TPMSealing(tpm, patience: .zero).unseal(FalseTPM.secret)
            require(secret.map { (1...128).contains($0.count) } ?? true, "a secret is not longer than one is sealed")
        }
        require(!tpm.isOpen, "each connection is closed")
    }

    private static func check(_ key: TokenKey) {
        let point = try? PublicKey(.p256, externalRepresentation: key.publicKey)
        require(point != nil, "the public half of a key is a point")
        let object = try? WrappedObject(key.object, oneOf: [.privateKey])
        require(object?.area.publicKey == [UInt8](key.publicKey), "an object has the public half of its key")
    }

    /// As an object that was stored.
    private static func stored(_ bytes: Data) {
        let kinds: [ObjectKind] = [.privateKey, .openSecret, .guardedSecret]
        guard let object = try? WrappedObject(bytes, oneOf: kinds) else { return }
        require(object.data == bytes, "an object is written as it was read")
    }
}
