// SPDX-License-Identifier: Apache-2.0
// The primitives around the user key by name, as this package computes them.

import Foundation
import KeychainCrypto
import KeychainTestSupport
import SecretMemory

@testable import KeychainVault

extension FormatVector {
    @Sendable static func userPublicKey(_ input: VectorInput) throws -> JSON {
        .hex(try UserKey.publicKey(of: input.secret("key")))
    }

    @Sendable static func openUserKey(_ input: VectorInput) throws -> JSON {
        try UserKey.open(
            input.bytes("sealed"), with: input.secret("key"), context: [UInt8](input.bytes("context"))
        ).hex
    }

    @Sendable static func normalised(_ input: VectorInput) throws -> JSON {
        try PassphraseDerivation.normalised(input.secret("secret")).hex
    }

    @Sendable static func passphraseKeys(_ input: VectorInput) throws -> JSON {
        let parameters = ScryptParameters(
            rounds: try input.number("rounds"), blockSize: try input.number("blockSize"),
            parallelism: try input.number("parallelism"))
        let keys = try PassphraseDerivation.keys(
            from: input.secret("secret"), salt: input.bytes("salt"), parameters)
        return .object(["wrapping": keys.wrapping.hex, "commitment": keys.commitment.hex])
    }

    @Sendable static func recoveryText(_ input: VectorInput) throws -> JSON {
        .text(RecoveryKey.text(try input.secret("key")).text)
    }

    @Sendable static func readRecovery(_ input: VectorInput) throws -> JSON {
        switch RecoveryKey.read(SecretBytes(text: try input.text("text"))) {
        case .key(let key): .object(["key": key.hex])
        case .mistyped: .text("mistyped")
        case .other: .null
        }
    }
}
