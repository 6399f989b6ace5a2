// SPDX-License-Identifier: Apache-2.0
// The payload of an age file: ChaCha20-Poly1305 in chunks, in the order and number in which they were written.

import Crypto
import Foundation
import KeychainKit

/// STREAM: the nonce of a chunk is its number and whether it is the last one.
struct AgeStream {
    static let chunkLength = 64 << 10
    static let tagLength = 16
    static let nonceLength = 16

    private let key: SymmetricKey
    private var number: UInt64 = 0

    /// - Parameter nonce: The 16 random bytes before the first chunk.
    init(fileKey: SymmetricKey, nonce: Data) {
        key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: fileKey, salt: nonce, info: Data("payload".utf8), outputByteCount: 32)
    }

    mutating func seal(_ chunk: Data, isLast: Bool) throws(KeychainError) -> Data {
        defer { number &+= 1 }
        do {
            let box = try ChaChaPoly.seal(chunk, using: key, nonce: ChaChaPoly.Nonce(data: nonce(isLast)))
            return box.ciphertext + box.tag
        } catch {
            throw KeychainError(.inputOutput, "The export could not be encrypted.")
        }
    }

    mutating func open(_ sealed: Data, isLast: Bool) throws(KeychainError) -> Data {
        defer { number &+= 1 }
        // Only an empty payload has an empty last chunk.
        guard sealed.count > Self.tagLength || sealed.count == Self.tagLength && number == 0 && isLast else {
            throw .damagedArchive("it is cut")
        }
        do {
            let box = try ChaChaPoly.SealedBox(
                nonce: ChaChaPoly.Nonce(data: nonce(isLast)), ciphertext: sealed.dropLast(Self.tagLength),
                tag: sealed.suffix(Self.tagLength))
            return try ChaChaPoly.open(box, using: key)
        } catch {
            throw .damagedArchive("its content was changed or cut")
        }
    }

    private func nonce(_ isLast: Bool) -> Data {
        Data(count: 3) + withUnsafeBytes(of: number.bigEndian) { Data($0) } + [isLast ? 1 : 0]
    }
}
