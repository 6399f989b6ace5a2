// SPDX-License-Identifier: Apache-2.0
// What a key object tells about itself.

// swift-format-ignore-file: AlwaysUseLowerCamelCase

#if os(Linux)
    public import Foundation
    import KeychainEngine
    import KeychainKeys
    import SecretMemory

    /// The public half of a private key, or the key itself if it is public.
    public func SecKeyCopyPublicKey(_ key: SecKey) -> SecKey? {
        SecKey(key.publicKey)
    }

    /// The bytes of a key in the format that `SecKeyCreateWithData` takes.
    ///
    /// ```swift
    /// let bytes = SecKeyCopyExternalRepresentation(key, nil) as Data?
    /// ```
    ///
    /// - Parameter error: receives an error that the caller releases: `errSecUnimplemented` for a private key on a token.
    public func SecKeyCopyExternalRepresentation(
        _ key: SecKey, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
    ) -> CFData? {
        reporting(to: error) {
            guard let bytes = key.externalRepresentation else { throw KeychainError.staysOnToken }
            return NSData(data: bytes)
        }
    }

    /// The attributes that a key has by itself: class, type and size, what it can do, its application label, and its
    /// bytes under `kSecValueData`. They do not tell how the key is stored. A key on a token has no bytes, but its token,
    /// its access control and its object.
    public func SecKeyCopyAttributes(_ key: SecKey) -> CFDictionary? {
        key.ownAttributes as NSDictionary
    }

    /// The bytes of a block: of an RSA modulus, or of a coordinate of an elliptic curve.
    public func SecKeyGetBlockSize(_ key: SecKey) -> Int {
        key.publicKey.blockSize
    }

    extension SecKey {
        /// What the keychain stores about the key.
        var columns: KeyColumns {
            switch half {
            case .publicHalf(let key): KeyColumns(key)
            case .privateHalf(let key): KeyColumns(key)
            case .onToken(let key): key.columns
            }
        }

        /// `nil` for a private key on a token.
        var externalRepresentation: Data? {
            switch half {
            case .publicHalf(let key): key.externalRepresentation
            case .privateHalf(let key): key.externalRepresentation.withUnsafeBytes { Data($0) }
            case .onToken: nil
            }
        }

        /// The class and the type are texts here, and numbers when the keychain returns them.
        fileprivate var ownAttributes: [String: Any] {
            let columns = columns
            var attributes: [String: Any] = [
                kSecClass as String: kSecClassKey, kSecAttrKeyClass as String: String(columns.keyClass),
                kSecAttrKeyType as String: String(columns.typeNumber),
                kSecAttrKeySizeInBits as String: columns.sizeInBits,
                kSecAttrEffectiveKeySize as String: columns.effectiveSizeInBits,
                kSecAttrApplicationLabel as String: columns.applicationLabel,
            ]
            attributes[kSecValueData as String] = externalRepresentation
            if case .onToken(let key) = half {
                attributes[kSecAttrTokenID as String] = key.identifier
                attributes[Attribute.tokenObject.description] = key.publicKey.externalRepresentation
                attributes[kSecAttrAccessControl as String] = key.accessControl.map { SecAccessControl($0) }
            }
            for flag in columns.flags { attributes[flag.name] = flag.isSet }
            return attributes
        }
    }
#endif
