// SPDX-License-Identifier: Apache-2.0
// Signs JSON Web Tokens with keys of a throw-away vault, and verifies them with swift-crypto.

import Crypto
import CryptoExtras
import Foundation
import KeychainKeyStore

struct Claims: Codable {
    var sub = "alice"
    var iat = Int(Date().timeIntervalSince1970)
}

func run() async throws {
    let folder = try throwAwayVault()
    defer { do { try FileManager.default.removeItem(at: folder) } catch { print("left behind: \(folder.path)") } }
    let keys = KeyStore()
    try await keys.save(P256.Signing.PrivateKey(), tag: "ES256")
    try await keys.save(Curve25519.Signing.PrivateKey(), tag: "EdDSA")
    try await keys.save(_RSA.Signing.PrivateKey(keySize: .bits2048), tag: "PS256")
    for name in ["ES256", "EdDSA", "PS256"] {
        guard let signer = try await keys.signer(tag: name), let algorithm = SigningAlgorithm(jwsName: name) else {
            throw CocoaError(.featureUnsupported)
        }
        let token = try await token(of: Claims(), signedBy: signer, algorithm)
        // The receiver of a token has only the public key.
        let claims = try verified(token, name, signer.publicKey)
        print("\(name): \(token.prefix(24))… is a valid token of \(claims.sub)")
    }
}

/// The claims of a token.
func verified(_ token: String, _ algorithm: String, _ key: Data) throws -> Claims {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let header = Data(base64URL: parts[0]), let claims = Data(base64URL: parts[1]),
        let signature = Data(base64URL: parts[2]),
        try JSONDecoder().decode([String: String].self, from: header)["alg"] == algorithm,
        try isValid(signature, Data("\(parts[0]).\(parts[1])".utf8), algorithm, key)
    else { throw CocoaError(.coderInvalidValue) }
    return try JSONDecoder().decode(Claims.self, from: claims)
}

func isValid(_ signature: Data, _ signed: Data, _ algorithm: String, _ key: Data) throws -> Bool {
    switch algorithm {
    case "ES256":
        try P256.Signing.PublicKey(derRepresentation: key)
            .isValidSignature(P256.Signing.ECDSASignature(rawRepresentation: signature), for: signed)
    case "EdDSA":
        try Curve25519.Signing.PublicKey(rawRepresentation: key.suffix(32)).isValidSignature(signature, for: signed)
    default:
        try _RSA.Signing.PublicKey(derRepresentation: key)
            .isValidSignature(_RSA.Signing.RSASignature(rawRepresentation: signature), for: signed, padding: .PSS)
    }
}

/// Makes a vault in a folder of its own that of this process.
func throwAwayVault() throws -> URL {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("JWTDemo-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    setenv("KEYCHAIN_VAULT", folder.path + "/vault", 1)
    setenv("KEYCHAIN_DEVICE_KEY", folder.path + "/config/device.key", 1)
    setenv("XDG_STATE_HOME", folder.path + "/state", 1)
    setenv("KEYCHAIN_ANCHORS", "file", 1)
    return folder
}

do {
    try await run()
} catch {
    print("The demonstration failed: \(error)")
    exit(1)
}
