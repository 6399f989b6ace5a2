// SPDX-License-Identifier: Apache-2.0
// One key of each type, and the bytes of known ones.

import Crypto
import CryptoExtras
import Foundation
import KeychainKeyStore
import SecretMemory
import Testing

enum TestKey {
    /// A type of key, by its name.
    struct Maker: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let make: @Sendable () throws -> any StorableKey

        init<Key: StorableKey>(_: Key.Type, _ make: @escaping @Sendable () throws -> Key) {
            (testDescription, self.make) = ("\(Key.self) of \(Key.keyType)", make)
        }
    }

    /// What every type of key is saved and read as.
    static let all = [
        Maker(P256.Signing.PrivateKey.self) { .init() }, Maker(P256.KeyAgreement.PrivateKey.self) { .init() },
        Maker(P384.Signing.PrivateKey.self) { .init() }, Maker(P384.KeyAgreement.PrivateKey.self) { .init() },
        Maker(P521.Signing.PrivateKey.self) { .init() }, Maker(P521.KeyAgreement.PrivateKey.self) { .init() },
        Maker(Curve25519.Signing.PrivateKey.self) { .init() },
        Maker(Curve25519.KeyAgreement.PrivateKey.self) { .init() },
        Maker(_RSA.Signing.PrivateKey.self) { try rsa },
        Maker(_RSA.Encryption.PrivateKey.self) { try .init(unsafeDERRepresentation: rsaBytes) },
        Maker(MLKEM768.PrivateKey.self) { try .init() }, Maker(MLKEM1024.PrivateKey.self) { try .init() },
        Maker(MLDSA65.PrivateKey.self) { try .init() }, Maker(MLDSA87.PrivateKey.self) { try .init() },
        Maker(XWingMLKEM768X25519.PrivateKey.self) { try .init() },
    ]

    static var rsa: _RSA.Signing.PrivateKey {
        get throws { try _RSA.Signing.PrivateKey(unsafeDERRepresentation: rsaBytes) }
    }

    /// 1024 bits, in PKCS#1. Making one takes long.
    static let rsaBytes = Data(
        base64: """
            MIICXgIBAAKBgQDYDH/MFUULNnhniOZOPpkLgPF+9iuxU6m023PaNYywx8K21YMLDfUoa48cdcsC0ApZ77aYVHdQebm5s4iVonNwLE6moEPBuS\
            ak0+pccGurYEh2BiVBHIwkD9bxIlZkAIjpMeZsQzmA4GiHlY6QrN2w+fLDs9udBUpmMhc6JWn/PQIDAQABAoGBAJm0+s8VatO5Yxw197Q/MN9Q\
            U4ACX79/SEPVxay/YGL9G/i8Gskomvyw2VZkL5TGsjaeJwhlP6XPlGUb59adhwY9pPc+VkmfQuI003+sNxXT2WLkeYHNNIiMgGLNmWgLpx6q3r\
            WgV27dAUuhRzFvwdb1aCmguuugx/Uu0wavHPxBAkEA/vUGjE3k/8clQOnCrinAzr5RVgUxFMkb6U6omOh6aIpXsaDjme9+Vs72XTSebbdvA86J\
            wv0wJ/HW9/GYJ0HwqQJBANjuuzzgz9W780WIdGzMmFZxt64t7hsp1liUH+sPbEXUA+ax3qAw5pak+Rji4ul3/Dx9mFFSqwpqCpr3HrbWMnUCQE\
            3yEyJp3gzkkVsbHE2qriuGu88Un0C/iyz0w06cJHA5ez3u9iZltbZMZ71vDNB2OBZt2mgmh8ZuhU4gKmg2HKECQQCc67w3omvVMTsdrkKBvVHp\
            HiN/dKwLrCzoMGYSVDq/HEmiJEJlYFo82KN0FBOOTQQCAdwf34voYaLATEhEfBdNAkEA25HNQGb9PD0LM1Kl7cnyV16yDksZqlxISjy0netPk6\
            A9Ny2OoDcNYen9yIyaIyozmXj1zJRq74sXctVO8ZbWUQ==
            """)

    /// The P-256 key of the conformance tests, whose label is known.
    static let p256Bytes = Data(
        base64: """
            BOycvnRjSryoWJ4WIeGFwUKu+/JMircuKfB4DDCq4ORkXrxfItt9xYwniKS2VsU0J+HgUmR0EtUCeUV6DphwSSsAAJKpc+ld+jXFfZcOdEq6\
            lpUvNT2LhnTBk2M3SXmWmg==
            """)

    static var p256: P256.Signing.PrivateKey {
        get throws { try P256.Signing.PrivateKey(x963Representation: p256Bytes) }
    }
}

extension Data {
    init(base64 text: String) { self = Data(base64Encoded: text) ?? Data() }

    var hex: String { map { String(format: "%02x", $0) }.joined() }
}

extension StorableKey {
    var data: Data { storedBytes.withUnsafeBytes { Data($0) } }
}
