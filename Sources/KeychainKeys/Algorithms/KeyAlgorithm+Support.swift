// SPDX-License-Identifier: Apache-2.0
// Which key supports which algorithm for which operation. Operations check this first, so that none fails later because
// of a missing algorithm.

/// An operation with a key. The numbers are those of `SecKeyOperationType`.
public enum KeyOperation: Int, Hashable, Sendable, CaseIterable {
    case sign = 0
    case verify = 1
    case encrypt = 2
    case decrypt = 3
    case keyExchange = 4

    fileprivate var needsPrivateKey: Bool {
        switch self {
        case .sign, .decrypt, .keyExchange: true
        case .verify, .encrypt: false
        }
    }
}

extension PrivateKey {
    public func supports(_ algorithm: KeyAlgorithm, for operation: KeyOperation) -> Bool {
        publicKey.privateHalfSupports(algorithm, for: operation)
    }
}

extension PublicKey {
    public func supports(_ algorithm: KeyAlgorithm, for operation: KeyOperation) -> Bool {
        !operation.needsPrivateKey && algorithm.isSupported(by: self, for: operation)
    }

    /// Whether the private half supports it, wherever that is.
    public func privateHalfSupports(_ algorithm: KeyAlgorithm, for operation: KeyOperation) -> Bool {
        operation.needsPrivateKey && algorithm.isSupported(by: self, for: operation)
    }
}

extension KeyAlgorithm {
    fileprivate func isSupported(by key: PublicKey, for operation: KeyOperation) -> Bool {
        operations.contains(operation) && isSupported(by: key.kind) && key.blockSize >= leastBlock(for: operation)
    }

    private var operations: [KeyOperation] {
        switch self {
        case .rsaSignatureRaw, .rsaSignaturePKCS1Raw, .rsaSignaturePKCS1, .rsaSignaturePSS, .ecdsaSignature,
            .ecdsaSignatureOfAnyDigest, .ecdsaSignatureRFC4754, .eddsaSignature:
            [.sign, .verify]
        case .rsaEncryptionRaw, .rsaEncryptionPKCS1, .rsaEncryptionOAEP, .rsaEncryptionOAEPAESGCM, .ecies:
            [.encrypt, .decrypt]
        case .keyExchange, .keyExchangeX963: [.keyExchange]
        }
    }

    private func isSupported(by kind: KeyKind) -> Bool {
        switch self {
        // swift-crypto has no RSA without its own padding, and knows only some hashes for it.
        case .rsaSignatureRaw, .rsaSignaturePKCS1Raw, .rsaEncryptionRaw: false
        case .rsaSignaturePKCS1(let input), .rsaSignaturePSS(let input): kind == .rsa && input.hash != .sha224
        case .rsaEncryptionPKCS1: kind == .rsa
        case .rsaEncryptionOAEP(let hash), .rsaEncryptionOAEPAESGCM(let hash):
            kind == .rsa && [.sha1, .sha256].contains(hash)
        case .ecdsaSignature, .ecdsaSignatureOfAnyDigest, .ecdsaSignatureRFC4754: kind.isNISTCurve
        case .eddsaSignature: kind == .ed25519
        case .ecies, .keyExchange, .keyExchangeX963: kind.isNISTCurve || kind == .x25519
        }
    }

    /// The minimum size of an RSA block, in bytes. Signatures with PSS can be verified, with the result `false`, with
    /// smaller keys too.
    private func leastBlock(for operation: KeyOperation) -> Int {
        switch self {
        case .rsaSignaturePSS(let input): operation == .sign ? 2 * input.hash.byteCount + 2 : 0
        case .rsaEncryptionOAEP(let hash), .rsaEncryptionOAEPAESGCM(let hash): 2 * hash.byteCount + 2
        default: 0
        }
    }
}
