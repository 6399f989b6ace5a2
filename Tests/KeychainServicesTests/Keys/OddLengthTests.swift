// SPDX-License-Identifier: Apache-2.0
// Operations of keys on no bytes, too many and damaged ones.

import Foundation
import KeychainServices
import Testing

@Suite("Keys: odd lengths")
struct OddLengthTests {
    private static let encryptions: [(TestKey, SecKeyAlgorithm)] = [
        (.rsa1024, .rsaEncryptionPKCS1), (.rsa1024, .rsaEncryptionOAEPSHA1), (.rsa2048, .rsaEncryptionOAEPSHA256),
        (.rsa1024, .rsaEncryptionOAEPSHA256AESGCM), (.p256, .eciesEncryptionStandardX963SHA1AESGCM),
        (.p384, .eciesEncryptionCofactorX963SHA224AESGCM),
        (.p521, .eciesEncryptionStandardVariableIVX963SHA512AESGCM),
        (.x25519, .eciesEncryptionStandardX963SHA256AESGCM),
    ]

    private func decrypt(_ key: SecKey, _ algorithm: SecKeyAlgorithm, _ data: Data) -> Attempt<Data> {
        attempt { SecKeyCreateDecryptedData(key, algorithm, data as CFData, $0) as Data? }
    }

    @Test(arguments: encryptions) func ciphertext_ofNothing_opensToNothing(key: TestKey, algorithm: SecKeyAlgorithm)
        throws
    {
        let (own, peer) = (try key.privateKey(), try key.publicKey())
        let sealed = attempt { SecKeyCreateEncryptedData(peer, algorithm, Data() as CFData, $0) as Data? }
        #expect(try decrypt(own, algorithm, #require(sealed.value)).value == Data())
    }

    @Test(arguments: encryptions) func ciphertext_thatWasCutOrChanged_isRefused(
        key: TestKey, algorithm: SecKeyAlgorithm
    )
        throws
    {
        let (own, peer) = (try key.privateKey(), try key.publicKey())
        let message = Data("a message".utf8) as CFData
        let whole = try #require(SecKeyCreateEncryptedData(peer, algorithm, message, nil) as Data?)
        for length in stride(from: 0, to: whole.count, by: key.isRSA ? 7 : 1) {
            #expect(decrypt(own, algorithm, whole.prefix(length)).status == errSecParam, "\(length)")
        }
        for place in stride(from: 0, to: whole.count, by: key.isRSA ? 31 : 3) {
            var changed = whole
            changed[place] ^= 0x80
            // A changed block of PKCS#1 v1.5 has a valid padding now and then.
            let result = decrypt(own, algorithm, changed)
            let isRefused = result.status == errSecParam
            #expect(isRefused || algorithm == .rsaEncryptionPKCS1 && result.value != message as Data, "\(place)")
        }
        #expect(decrypt(own, algorithm, whole + Data(count: 1 << 20)).status == errSecParam)
    }

    /// A slice begins at another index than zero.
    @Test(arguments: encryptions) func ciphertext_thatIsASlice_isDecrypted(key: TestKey, algorithm: SecKeyAlgorithm)
        throws
    {
        let message = Data("xxa message".utf8).dropFirst(2)
        let sealed = SecKeyCreateEncryptedData(try key.publicKey(), algorithm, message as CFData, nil)
        let padded = try Data(count: 5) + #require(sealed as Data?)
        #expect(try decrypt(key.privateKey(), algorithm, padded.dropFirst(5)).value == Data("a message".utf8))
    }

    private static let signatures: [(TestKey, SecKeyAlgorithm)] = [
        (.p256, .ecdsaSignatureMessageX962SHA1), (.p384, .ecdsaSignatureMessageX962SHA224),
        (.p521, .ecdsaSignatureMessageRFC4754SHA512), (.p256, .ecdsaSignatureDigestX962),
        (.rsa1024, .rsaSignatureMessagePKCS1v15SHA1), (.rsa2048, .rsaSignatureMessagePSSSHA512),
        (.ed25519, SecKeyAlgorithm(rawValue: "algid:sign:EdDSA:message-Curve25519:SHA512" as CFString)),
    ]

    @Test(arguments: signatures) func signature_ofNothing_verifiesAndNoOther(key: TestKey, algorithm: SecKeyAlgorithm)
        throws
    {
        let (own, peer) = (try key.privateKey(), try key.publicKey())
        func status(_ signature: Data, _ data: Data = Data()) -> OSStatus {
            let pair = (data as CFData, signature as CFData)
            return attempt { SecKeyVerifySignature(peer, algorithm, pair.0, pair.1, $0) ? true : nil }.status
        }
        let made = attempt { SecKeyCreateSignature(own, algorithm, Data() as CFData, $0) as Data? }
        let signature = try #require(made.value)
        #expect(status(signature) == errSecSuccess)
        #expect(status((Data(count: 3) + signature).dropFirst(3)) == errSecSuccess)
        #expect(status(signature, Data([1])) == errSecVerifyFailed)
        let others = [signature + [0], [0] + signature, signature + signature, Data(count: 1 << 20), Data([0x30])]
        for other in others + (0..<signature.count).map({ signature.prefix($0) }) {
            #expect(status(other) == errSecVerifyFailed, "\(other.count)")
        }
    }

    /// All zeros are a point of small order, with which every secret is zero.
    @Test func encryption_forAPointOfSmallOrder_isRefused() throws {
        let peer = try #require(importedKey(Data(count: 32), "106", "0").value)
        let algorithm = SecKeyAlgorithm.eciesEncryptionStandardX963SHA256AESGCM
        let sealed = attempt { SecKeyCreateEncryptedData(peer, algorithm, Data() as CFData, $0) as Data? }
        #expect(sealed.status == errSecParam)
    }
}
