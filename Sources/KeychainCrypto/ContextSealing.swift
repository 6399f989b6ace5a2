// SPDX-License-Identifier: Apache-2.0
// seal and open with arbitrary associated data, for blobs outside a vault.

import Crypto
public import Foundation
public import SecretMemory

extension Sealing {
    /// nonce ‖ ciphertext ‖ tag.
    ///
    /// - Parameter context: The associated data; the same is needed to open the result.
    public static func seal(_ plaintext: [UInt8], with key: SecretBytes, context: [UInt8]) throws(CipherFailure)
        -> Data
    {
        try seal(plaintext, symmetric(key), context)
    }

    public static func openBytes(_ sealed: Data, with key: SecretBytes, context: [UInt8]) throws(CipherFailure)
        -> Data
    {
        try open(sealed, symmetric(key), context)
    }

    /// Seals with a fresh one-time key, which `wrappingKey` wraps: wrapped key ‖ nonce ‖ ciphertext ‖ tag.
    ///
    /// - Parameters:
    ///   - keyContext: The associated data of the wrapped key.
    ///   - context: The associated data of the content, which stays the same when the key is wrapped again.
    public static func sealWithOneTimeKey(
        _ plaintext: [UInt8], wrappingKey: SecretBytes, keyContext: [UInt8], context: [UInt8]
    ) throws(CipherFailure) -> Data {
        let oneTimeKey = SecretBytes.random(count: 32)
        let wrapped = try wrap(oneTimeKey, under: wrappingKey, context: keyContext)
        return wrapped + (try seal(plaintext, with: oneTimeKey, context: context))
    }

    public static func openWithOneTimeKey(
        _ sealed: Data, wrappingKey: SecretBytes, keyContext: [UInt8], context: [UInt8]
    ) throws(CipherFailure) -> Data {
        let (wrapped, content) = try parts(sealed)
        let oneTimeKey = try unwrap(wrapped, with: wrappingKey, context: keyContext)
        return try openBytes(content, with: oneTimeKey, context: context)
    }

    /// Wraps the one-time key of a sealed blob with another key. The content is not decrypted or encrypted again.
    public static func rewrap(
        _ sealed: Data, from oldKey: SecretBytes, _ oldContext: [UInt8], to newKey: SecretBytes, _ newContext: [UInt8]
    ) throws(CipherFailure) -> Data {
        let (wrapped, content) = try parts(sealed)
        let oneTimeKey = try unwrap(wrapped, with: oldKey, context: oldContext)
        return try wrap(oneTimeKey, under: newKey, context: newContext) + content
    }

    private static func parts(_ sealed: Data) throws(CipherFailure) -> (wrapped: Data, content: Data) {
        guard sealed.count >= wrappedKeyLength + overhead else { throw CipherFailure() }
        return (Data(sealed.prefix(wrappedKeyLength)), Data(sealed.dropFirst(wrappedKeyLength)))
    }
}
