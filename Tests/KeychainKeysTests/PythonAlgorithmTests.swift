// SPDX-License-Identifier: Apache-2.0
// Apple's constructions beside an independent program: 50 lines of Python over `cryptography`.

import Foundation
import KeychainTestSupport
import SecretMemory
import Testing

@testable import KeychainKeys

/// A Python that has `cryptography`.
private enum Python {
    static let path: String? = {
        let named = ProcessInfo.processInfo.environment["KEYCHAIN_TEST_PYTHON"]
        return [named, "/usr/bin/python3", "/usr/local/bin/python3"].compactMap(\.self).first { path in
            let process = Process()
            process.executableURL = URL(fileURLWithPath: path)
            process.arguments = ["-c", "import cryptography"]
            process.standardError = FileHandle.nullDevice
            guard FileManager.default.isExecutableFile(atPath: path) else { return false }
            do {
                try process.run(limitedTo: .testLimit)
                try process.waitForEnd()
            } catch {
                return false
            }
            return process.terminationStatus == 0
        }
    }()

    /// encrypt or decrypt; the file of the key in PEM, public or private; construction and hash; input and output.
    static let program = """
        import sys
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import ec, padding
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
        from cryptography.hazmat.primitives.kdf.x963kdf import X963KDF
        import os

        direction, keyfile, construction, hashname, source, target = sys.argv[1:]
        hash = getattr(hashes, hashname)()
        data = open(source, "rb").read()
        text = open(keyfile, "rb").read()
        key = (serialization.load_pem_private_key(text, None) if direction == "decrypt"
               else serialization.load_pem_public_key(text))
        public = key.public_key() if direction == "decrypt" else key

        def gcm(key, iv, associated, data):
            cipher = AESGCM(key)
            return (cipher.decrypt if direction == "decrypt" else cipher.encrypt)(iv, data, associated)

        def ecies(variable):
            point = lambda k: k.public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
            length = len(point(public))
            if direction == "decrypt":
                sender, body = data[:length], data[length:]
                secret = key.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(public.curve, sender))
            else:
                one = ec.generate_private_key(public.curve)
                sender, body = point(one.public_key()), data
                secret = one.exchange(ec.ECDH(), public)
            size = 32 if (length - 1) // 2 * 8 > 256 else 16
            derived = X963KDF(hash, size + (16 if variable else 0), sender).derive(secret)
            body = gcm(derived[:size], derived[size:] if variable else bytes(16), None, body)
            return body if direction == "decrypt" else sender + body

        def rsa():
            oaep = padding.OAEP(padding.MGF1(hash), hash, None)
            block = public.key_size // 8
            der = public.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.PKCS1)
            if direction == "decrypt":
                return gcm(key.decrypt(data[:block], oaep), bytes(16), der, data[block:])
            session = os.urandom(16 if public.key_size < 4096 else 32)
            return key.encrypt(session, oaep) + gcm(session, bytes(16), der, data)

        result = rsa() if construction == "rsa" else ecies(construction == "derived")
        open(target, "wb").write(result)
        """
}

@Suite(.enabled(if: Python.path != nil, "no Python with `cryptography` is installed"))
struct PythonAlgorithmTests {
    private static let algorithms: [(KeyKind, KeyAlgorithm, String)] =
        [
            (.p256, .ecies(.standard, .sha1, .zero), "zero SHA1"),
            (.p256, .ecies(.cofactor, .sha224, .zero), "zero SHA224"),
            (.p256, .ecies(.standard, .sha512, .derived), "derived SHA512"),
            (.p384, .ecies(.standard, .sha224, .derived), "derived SHA224"),
            (.p521, .ecies(.standard, .sha256, .zero), "zero SHA256"),
            (.rsa, .rsaEncryptionOAEPAESGCM(.sha1), "rsa SHA1"),
            (.rsa, .rsaEncryptionOAEPAESGCM(.sha256), "rsa SHA256"),
        ]

    @Test("K47", arguments: algorithms)
    func encryption_inBothDirections_decrypts(kind: KeyKind, algorithm: KeyAlgorithm, words: String) throws {
        let folder = try OpenSSL()
        let key = kind == .rsa ? try #require(KnownKey.rsa4096) : try PrivateKey.generate(kind)
        let message = Data("a message of some length".utf8)
        try folder.write(Data(Python.program.utf8), "program.py")
        try folder.write(key.pem(), "key.pem")
        try folder.write(Data(key.publicKey.pem.utf8), "public.pem")
        try folder.write(message, "message")
        try folder.write(key.publicKey.encrypt(message, algorithm), "ours")
        for arguments in ["encrypt public.pem \(words) message theirs", "decrypt key.pem \(words) ours opened"] {
            let result = try folder.attempt(
                Python.path, ["program.py"] + arguments.split(separator: " ").map(String.init))
            try #require(result.succeeded, "\(String(decoding: result.output, as: UTF8.self))")
        }
        #expect(try folder.read("opened") == message)
        #expect(try key.decrypt(folder.read("theirs"), algorithm).data == message)
    }
}
