// SPDX-License-Identifier: Apache-2.0
// Creating keys from bytes.

// swift-format-ignore-file: AlwaysUseLowerCamelCase

#if os(Linux)
    public import Foundation
    import KeychainEngine
    import KeychainKeys
    import SecretMemory

    /// Creates a key from its external representation. Nothing is stored.
    ///
    /// ```swift
    /// let attributes: [CFString: Any] = [kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeyClass: kSecAttrKeyClassPublic]
    /// let key = SecKeyCreateWithData(der as CFData, attributes as CFDictionary, nil)
    /// ```
    ///
    /// - Parameters:
    ///   - keyData: for a NIST curve 04 ‖ X ‖ Y, and ‖ K for a private key; for RSA the PKCS#1 structure, for a public
    ///     key also SubjectPublicKeyInfo; for Curve25519 (types 105 and 106) the 32 bytes.
    ///   - attributes: `kSecAttrKeyType` and `kSecAttrKeyClass`, each a constant or a number. Others are ignored.
    ///   - error: receives an error that the caller releases: `errSecParam` for missing or unknown attributes and for
    ///     bytes that are no such key, `errSecUnimplemented` for a symmetric key or one on a token.
    public func SecKeyCreateWithData(
        _ keyData: CFData, _ attributes: CFDictionary, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
    ) -> SecKey? {
        reporting(to: error) { try SecKey(keyData as Data, attributes) }
    }

    extension SecKey {
        fileprivate convenience init(_ bytes: Data, _ attributes: NSDictionary) throws {
            guard attributes[kSecAttrTokenID] == nil else { throw KeychainError.noImportIntoTokens }
            let typeNumber = try keyNumber(attributes, kSecAttrKeyType)
            let keyClass = try keyNumber(attributes, kSecAttrKeyClass)
            guard keyClass != 2 else {
                throw KeychainError(.unsupported, "Symmetric keys cannot be objects. Store their bytes.")
            }
            try self.init(typeNumber: typeNumber, keyClass: keyClass, bytes)
        }

        /// - Parameters:
        ///   - typeNumber: `kSecAttrKeyType` as a number.
        ///   - keyClass: `kSecAttrKeyClass` as a number: 0 for a public key, 1 for a private key.
        convenience init(typeNumber: Int, keyClass: Int, _ bytes: Data) throws(KeyFailure) {
            switch keyClass {
            case 0: self.init(try PublicKey.importing(bytes, typeNumber: typeNumber))
            case 1:
                let secret = bytes.withUnsafeBytes { SecretBytes(copying: $0) }
                self.init(try PrivateKey(typeNumber: typeNumber, externalRepresentation: secret))
            default: throw .unsupportedAlgorithm("class \(keyClass) of keys")
            }
        }
    }

    /// A number as Apple's constants for keys have it: decimal text that prints the same, or a number.
    private func keyNumber(_ attributes: NSDictionary, _ name: CFString) throws(KeychainError) -> Int {
        guard let entry = attributes[name], let number = keyNumber(entry) else {
            throw KeychainError(
                .invalidParameter, "A key needs its type (kSecAttrKeyType) and its class (kSecAttrKeyClass).")
        }
        return number
    }

    /// `nil` if the entry is neither decimal text that prints the same nor a whole number.
    func keyNumber(_ entry: Any) -> Int? {
        if type(of: entry) == Bool.self { return nil }
        if let text = entry as? String { return Int(text).flatMap { String($0) == text ? $0 : nil } }
        return (entry as? NSNumber).flatMap { Int(exactly: $0) }
    }
#endif
