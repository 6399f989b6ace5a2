// SPDX-License-Identifier: Apache-2.0
// Every algorithm with every key and every operation: what is supported, and that it does what it says.

import Foundation
import KeychainServices
import Testing

/// What a key supports by the facts, written independently of the table that is tested.
private func isSupported(_ text: String, _ key: TestKey, isPrivate: Bool, _ operation: SecKeyOperationType) -> Bool {
    let parts = text.split(separator: ":").map(String.init)
    switch parts[0] {
    case "sign":
        guard operation == (isPrivate ? .sign : .verify) else { return false }
        if parts[1] == "ECDSA" { return key.isCurve }
        guard key.isRSA, parts.count > 3, parts[3] != "SHA224" else { return false }
        return !(parts[2].hasSuffix("PSS") && parts[3] == "SHA512" && key == .rsa1024 && operation == .sign)
    case "encrypt":
        guard operation == (isPrivate ? .decrypt : .encrypt) else { return false }
        if parts[1] == "ECIES" { return key.isCurve || key == .x25519 }
        return key.isRSA && (parts[2] == "PKCS1" || parts.count > 3 && ["SHA1", "SHA256"].contains(parts[3]))
    default: return operation == .keyExchange && isPrivate && (key.isCurve || key == .x25519)
    }
}

private struct Halves {
    let privateKey: SecKey
    let publicKey: SecKey
    let message = Data("a message".utf8)
    private static let lengths = ["SHA1": 20, "SHA224": 28, "SHA256": 32, "SHA384": 48, "SHA512": 64]

    init(_ key: TestKey) throws {
        privateKey = try key.privateKey()
        publicKey = try key.publicKey()
    }

    /// A digest of the right length, or a message.
    func input(_ text: String) -> CFData {
        let parts = text.split(separator: ":").map(String.init)
        guard parts.count > 3, parts[2].hasPrefix("digest"), let length = Self.lengths[parts[3]] else {
            return message as CFData
        }
        return Data(repeating: 0x5A, count: length) as CFData
    }

    /// The status of the operation; what it gives is used by the other half.
    func perform(_ operation: SecKeyOperationType, _ algorithm: SecKeyAlgorithm, _ text: String, with key: SecKey)
        -> OSStatus
    {
        let data = input(text)
        switch operation {
        case .sign:
            let signature = attempt { SecKeyCreateSignature(key, algorithm, data, $0) }
            guard let value = signature.value else { return signature.status }
            return SecKeyVerifySignature(publicKey, algorithm, data, value, nil) ? errSecSuccess : errSecInternalError
        case .verify:
            let result = attempt { SecKeyVerifySignature(key, algorithm, data, Data([1]) as CFData, $0) ? true : nil }
            // The signature is wrong, so a key that supports the algorithm says that.
            return result.status == errSecVerifyFailed ? errSecSuccess : result.status
        case .encrypt:
            let sealed = attempt { SecKeyCreateEncryptedData(key, algorithm, message as CFData, $0) }
            guard let value = sealed.value else { return sealed.status }
            let opened = SecKeyCreateDecryptedData(privateKey, algorithm, value, nil)
            return opened as Data? == message ? errSecSuccess : errSecInternalError
        case .decrypt:
            guard let sealed = SecKeyCreateEncryptedData(publicKey, algorithm, message as CFData, nil) else {
                return attempt { SecKeyCreateDecryptedData(key, algorithm, data, $0) }.status
            }
            return attempt { SecKeyCreateDecryptedData(key, algorithm, sealed, $0) }.status
        case .keyExchange:
            let parameters = [SecKeyKeyExchangeParameter.requestedSize.rawValue: 24] as CFDictionary
            return attempt { SecKeyCopyKeyExchangeResult(key, algorithm, publicKey, parameters, $0) }.status
        }
    }
}

@Suite("Keys: the matrix of algorithms")
struct AlgorithmMatrixTests {
    @Test func algorithms_comparedWithApple_haveTheSameTexts() {
        for (algorithm, text) in algorithmTexts { #expect(algorithm.rawValue as String == "algid:" + text) }
        #expect(Set(algorithmTexts.map(\.0)).count == 87)
    }

    @Test(arguments: TestKey.allCases)
    func operation_ofEveryAlgorithmOnAKey_worksExactlyIfItIsSupported(key: TestKey) throws {
        let halves = try Halves(key)
        for (algorithm, text) in algorithmTexts {
            for operation in SecKeyOperationType.allCases {
                for (isPrivate, half) in [(true, halves.privateKey), (false, halves.publicKey)] {
                    let expected = isSupported(text, key, isPrivate: isPrivate, operation)
                    let name = Comment(rawValue: "\(operation) \(text) \(isPrivate)")
                    #expect(SecKeyIsAlgorithmSupported(half, operation, algorithm) == expected, name)
                    let status = halves.perform(operation, algorithm, text, with: half)
                    #expect(status == (expected ? errSecSuccess : errSecParam), name)
                }
            }
        }
    }

    @Test(arguments: ["", "algid:sign:RSA:message-PKCS1v15:MD5", "algid:keyexchange", "RSA"])
    func algorithm_thatIsUnknown_isSupportedByNoKey(text: String) throws {
        let algorithm = SecKeyAlgorithm(rawValue: text as CFString)
        for key in TestKey.allCases {
            for operation in SecKeyOperationType.allCases {
                #expect(!SecKeyIsAlgorithmSupported(try key.privateKey(), operation, algorithm))
            }
        }
        let key = try TestKey.p256.privateKey()
        #expect(attempt { SecKeyCreateSignature(key, algorithm, Data() as CFData, $0) }.status == errSecParam)
    }
}
