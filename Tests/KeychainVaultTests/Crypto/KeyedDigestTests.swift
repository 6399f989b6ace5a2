// SPDX-License-Identifier: Apache-2.0
// Digests from a prepared state are those of the library.

import Crypto
import Foundation
import SecretMemory
import Testing

@testable import KeychainCrypto

struct KeyedDigestTests {
    /// Lengths around those at which SHA-256 takes another block.
    @Test(arguments: [0, 1, 16, 32, 55, 56, 63, 64, 65, 127, 128, 1000])
    func digest_ofAMessageOfAnyLength_isTheLibrarysHMAC(_ length: Int) {
        let message = [UInt8]((0..<length).map { UInt8(truncatingIfNeeded: $0) })
        for keyLength in [1, 32, 64, 65, 200] {
            let key = [UInt8](repeating: 0x5A, count: keyLength)
            let digest = KeyedDigest(key: key.withUnsafeBytes { SecretBytes(copying: $0) })
            let expected = HMAC<SHA256>.authenticationCode(for: message, using: SymmetricKey(data: key))
            // Twice, since a digest must not change the state.
            for _ in 1...2 { #expect(Data(message.withUnsafeBytes { digest.code(for: $0) }) == Data(expected)) }
        }
    }
}
