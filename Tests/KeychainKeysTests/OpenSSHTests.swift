// SPDX-License-Identifier: Apache-2.0
// Private keys of ssh-keygen.

import Foundation
import SecretMemory
import Testing

@testable import KeychainKeys

private let sshKeygen = ["/usr/bin/ssh-keygen", "/usr/local/bin/ssh-keygen"].first {
    FileManager.default.isExecutableFile(atPath: $0)
}

@Suite(.enabled(if: sshKeygen != nil, "the ssh-keygen program is not installed"))
struct OpenSSHTests {
    /// Makes a key in the file `key`, and returns the public key in PEM.
    private func generate(_ options: String, in folder: borrowing OpenSSL) throws -> Data {
        let words = "-q -N  -C comment -f key \(options)".split(separator: " ", omittingEmptySubsequences: true)
        var arguments = words.map(String.init)
        arguments.insert("", at: 2)
        try #require(folder.attempt(sshKeygen, arguments).succeeded)
        return try folder.attempt(sshKeygen, ["-e", "-m", "PKCS8", "-f", "key.pub"]).output
    }

    @Test(arguments: [
        ("-t ecdsa -b 256", KeyKind.p256), ("-t ecdsa -b 384", .p384), ("-t ecdsa -b 521", .p521),
        ("-t rsa -b 2048", .rsa), ("-t rsa -b 3072", .rsa),
    ])
    func key_ofSSHKeygen_isRead(options: String, kind: KeyKind) throws {
        let folder = try OpenSSL()
        let publicKey = try generate(options, in: folder)
        let key = try PrivateKey(pem: folder.secret("key"))
        #expect(key.kind == kind && key.publicKey.pem == String(decoding: publicKey, as: UTF8.self))
    }

    @Test func ed25519_ofSSHKeygen_isRead() throws {
        let folder = try OpenSSL()
        _ = try generate("-t ed25519", in: folder)
        let key = try PrivateKey(pem: folder.secret("key"))
        let line = try String(decoding: folder.read("key.pub"), as: UTF8.self)
        let blob = Data(base64: String(line.split(separator: " ")[1]))
        #expect(key.kind == .ed25519 && blob.suffix(32) == key.publicKey.externalRepresentation)
    }

    @Test func key_damaged_isRefusedOrAnother() throws {
        for options in ["-t ecdsa -b 256", "-t ed25519", "-t rsa -b 2048"] {
            let folder = try OpenSSL()
            _ = try generate(options, in: folder)
            let key = try PrivateKey(pem: folder.secret("key"))
            let bytes = try PEMBlock.all(in: folder.secret("key"))[0].content.data
            for length in 0..<bytes.count {
                #expect(throws: KeyFailure.self) { try PrivateKey(openSSH: SecretBytes(bytes.prefix(length))) }
            }
            for index in stride(from: 0, to: bytes.count, by: key.kind == .rsa ? 13 : 1) {
                var changed = bytes
                changed[index] ^= 0x81
                // The outer public key and the comment are not read.
                if let read = try? PrivateKey(openSSH: SecretBytes(changed)) { #expect(read == key) }
            }
        }
    }
}
