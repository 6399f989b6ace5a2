// SPDX-License-Identifier: Apache-2.0
// A public or private key as an object.

// swift-format-ignore-file: AlwaysUseLowerCamelCase

#if os(Linux)
    public import Foundation
    import KeychainKeys
    import SecretMemory

    /// A public or private key: RSA, a NIST curve, Ed25519 or X25519; or a private P-256 key on a token.
    ///
    /// Keys are equal if they are the same half with the same bytes, or the same object of the same token. The bytes of a
    /// private key are in locked memory and wiped with the object; a key that has signed also exists in memory that is wiped
    /// and not locked. No description shows them.
    ///
    /// ```swift
    /// let attributes: [CFString: Any] = [kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256]
    /// var error: Unmanaged<CFError>?
    /// guard let key = SecKeyCreateRandomKey(attributes as CFDictionary, &error) else {
    ///     throw error!.takeRetainedValue() as Error
    /// }
    /// ```
    public final class SecKey: NSObject, Sendable {
        enum Half: Sendable, Equatable {
            case publicHalf(PublicKey)
            case privateHalf(PrivateKey)
            case onToken(KeyOnToken)
        }

        let half: Half
        /// The private key in the form that signs, from its first use on.
        private let loaded = Guarded<LoadedKey?>(nil)

        init(_ half: Half) {
            self.half = half
        }

        convenience init(_ key: PublicKey) { self.init(.publicHalf(key)) }
        convenience init(_ key: PrivateKey) { self.init(.privateHalf(key)) }
        convenience init(_ key: KeyOnToken) { self.init(.onToken(key)) }

        /// The public half, which is the key itself if that is public.
        var publicKey: PublicKey {
            switch half {
            case .publicHalf(let key): key
            case .privateHalf(let key): key.publicKey
            case .onToken(let key): key.publicKey
            }
        }

        var isPrivate: Bool { if case .publicHalf = half { false } else { true } }

        /// - Throws: `KeyFailure.algorithmNotSupported` for a public key, and for one on a token.
        func privateKey() throws(KeyFailure) -> PrivateKey {
            guard case .privateHalf(let key) = half else { throw .algorithmNotSupported }
            return key
        }

        /// - Throws: As ``privateKey()``.
        func loadedKey() throws(KeyFailure) -> LoadedKey {
            let key = try privateKey()
            return try loaded.withLock { (loaded) throws(KeyFailure) in
                if let loaded { return loaded }
                let fresh = try key.loaded()
                loaded = fresh
                return fresh
            }
        }

        /// Whether the other object is the same half of the same key.
        public override func isEqual(_ object: Any?) -> Bool {
            (object as? SecKey)?.half == half
        }

        /// Equal objects have equal hashes.
        public override var hash: Int { publicKey.hashValue }

        /// The kind of the key and its size, without any of its bytes.
        public override var description: String {
            let place = if case .onToken(let key) = half { ", on the token \(key.identifier)" } else { "" }
            let half = isPrivate ? "private" : "public"
            return "<SecKey: \(half) \(publicKey.kind), \(publicKey.sizeInBits) bits\(place)>"
        }
    }

    extension SecKey: CustomReflectable {
        /// Shows nothing.
        public var customMirror: Mirror { Mirror(self, children: []) }
    }

    /// The type number of keys. It can only be compared, for example with the result of `CFGetTypeID`.
    public func SecKeyGetTypeID() -> CFTypeID { 0x736B_6579 }
#endif
