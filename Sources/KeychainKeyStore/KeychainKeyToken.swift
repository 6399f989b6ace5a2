// SPDX-License-Identifier: Apache-2.0
// Keys in the keychain that are used like those in hardware, and never given out.

import Foundation
import KeychainEngine
import KeychainKeys
import KeychainKit
import SecretMemory

/// Uses the keys of ``KeyProtection/notExportable``. The object is the private key itself, which only the vault seals.
struct KeychainKeyToken: KeyToken {
    let identifier = Item.keychainIdentifier
    let name = "keychain"

    func makeKey() throws(KeychainError) -> TokenKey {
        let key = try Self.scrubbing { () throws(KeyFailure) in try PrivateKey.generate(.p256) }
        return TokenKey(
            object: key.externalRepresentation.withUnsafeBytes { Data($0) },
            publicKey: key.publicKey.externalRepresentation)
    }

    func sign(_ digest: Data, of hash: TokenHash, with object: Data) throws(KeychainError) -> Data {
        try Self.scrubbing { () throws(KeyFailure) in
            try Self.key(object).loaded().sign(digest, .ecdsaSignature(.digest(hash.content), .raw))
        }
    }

    func agree(with publicKey: Data, object: Data) throws(KeychainError) -> SecretBytes {
        try Self.scrubbing { () throws(KeyFailure) in
            let peer = try PublicKey(.p256, externalRepresentation: publicKey)
            return try Self.key(object).exchange(with: peer, .keyExchange(.standard))
        }
    }

    func forget(_ object: Data) {}

    private static func key(_ object: Data) throws(KeyFailure) -> PrivateKey {
        try PrivateKey(.p256, externalRepresentation: object.withUnsafeBytes { SecretBytes(copying: $0) })
    }

    private static func scrubbing<Result>(_ body: () throws(KeyFailure) -> Result) throws(KeychainError) -> Result {
        defer { scrubResidue() }
        do throws(KeyFailure) {
            return try body()
        } catch {
            throw error.inKeychainWords("The key")
        }
    }
}

extension TokenHash {
    fileprivate var content: KeyHash {
        switch self {
        case .sha1: .sha1
        case .sha256: .sha256
        case .sha384: .sha384
        case .sha512: .sha512
        }
    }
}
