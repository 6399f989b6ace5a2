// SPDX-License-Identifier: Apache-2.0
// Public keys and signatures in the encodings of the SSH protocol, and the fingerprints that ssh-keygen prints.

import Crypto
public import Foundation

extension PublicKey {
    /// The key as the SSH protocol sends it (RFC 4253, 5656, 8709); `nil` for X25519, which SSH does not have.
    public var sshEncoding: Data? {
        guard let type = kind.sshName else { return nil }
        var encoding = SSHWriter()
        encoding.string(type.utf8)
        switch kind {
        case .p256, .p384, .p521:
            encoding.string(type.utf8.dropFirst("ecdsa-sha2-".utf8.count))
            encoding.string(bytes)
        case .ed25519: encoding.string(bytes)
        case .rsa:
            guard let (modulus, exponent) = rsaNumbers else { return nil }
            encoding.unsigned(exponent)
            encoding.unsigned(modulus)
        case .x25519: return nil
        }
        return encoding.bytes
    }

    /// A line of `authorized_keys`, without a newline; `nil` for X25519.
    ///
    /// - Parameter comment: Text after the key. Characters that would end the line are replaced.
    public func openSSH(comment: String = "") -> String? {
        guard let type = kind.sshName, let encoding = sshEncoding else { return nil }
        let line = "\(type) \(encoding.base64EncodedString())"
        let shown = String(
            String.UnicodeScalarView(comment.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? "?" : $0 }))
        return shown.isEmpty ? line : "\(line) \(shown)"
    }

    /// `SHA256:` and the digest in Base64, as `ssh-keygen -l` prints it; `nil` for X25519.
    public var fingerprint: String? {
        sshEncoding.map { encoding in
            var text = Data(SHA256.hash(data: encoding)).base64EncodedString()
            while text.utf8.last == UInt8(ascii: "=") { text.removeLast() }
            return "SHA256:" + text
        }
    }

    /// Modulus and exponent without leading zeros.
    private var rsaNumbers: (modulus: [UInt8], exponent: [UInt8])? {
        do throws(KeyFailure) {
            var reader = try DERReader.only(DERTag.sequence, in: bytes[...], "PKCS#1 public key")
            return (try [UInt8](reader.unsignedInteger()), try [UInt8](reader.unsignedInteger()))
        } catch {
            return nil
        }
    }
}

extension KeyKind {
    /// The name of the kind in the SSH protocol.
    public var sshName: String? {
        switch self {
        case .rsa: "ssh-rsa"
        case .p256: "ecdsa-sha2-nistp256"
        case .p384: "ecdsa-sha2-nistp384"
        case .p521: "ecdsa-sha2-nistp521"
        case .ed25519: "ssh-ed25519"
        case .x25519: nil
        }
    }
}

/// Writes the strings and numbers of the SSH protocol (RFC 4251).
struct SSHWriter {
    private(set) var bytes = Data()

    mutating func string(_ content: some Collection<UInt8>) {
        withUnsafeBytes(of: UInt32(content.count).bigEndian) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: content)
    }

    /// A number that is not negative, given without leading zeros.
    mutating func unsigned(_ number: [UInt8]) {
        string((number.first ?? 0) >= 0x80 ? [0] + number : number)
    }
}
