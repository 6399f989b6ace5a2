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
    private func generate(
        _ options: String, passphrase: String = "", in folder: borrowing OpenSSL
    ) throws -> Data {
        let words =
            ["-q", "-C", "comment", "-f", "key", "-N", passphrase] + options.split(separator: " ").map(String.init)
        try #require(folder.attempt(sshKeygen, words).succeeded)
        return try folder.attempt(sshKeygen, ["-e", "-m", "PKCS8", "-f", "key.pub"]).output
    }

    @Test(arguments: [
        ("-t ecdsa -b 256", KeyKind.p256), ("-t ecdsa -b 384", .p384), ("-t ecdsa -b 521", .p521),
        ("-t rsa -b 1024", .rsa), ("-t rsa -b 1536", .rsa), ("-t rsa -b 2048", .rsa), ("-t rsa -b 3072", .rsa),
    ])
    func key_ofSSHKeygen_isRead(options: String, kind: KeyKind) throws {
        let folder = try OpenSSL()
        let publicKey = try generate(options, in: folder)
        let key = try PrivateKey(pem: folder.secret("key"))
        #expect(key.kind == kind && key.publicKey.pem == String(decoding: publicKey, as: UTF8.self))
    }

    /// The OpenSSH file lacks two numbers of the PKCS#1 file, which are computed.
    @Test(arguments: [1024, 2048, 4096])
    func rsaKey_ofSSHKeygen_isThatOfItsPKCS1File(bits: Int) throws {
        let folder = try OpenSSL()
        _ = try generate("-t rsa -b \(bits)", in: folder)
        let key = try PrivateKey(pem: folder.secret("key"))
        let words = ["-q", "-p", "-m", "PEM", "-N", "", "-P", "", "-f", "key"]
        try #require(folder.attempt(sshKeygen, words).succeeded)
        #expect(try folder.secret("key").data.starts(with: Data("-----BEGIN RSA PRIVATE KEY-----".utf8)))
        #expect(try PrivateKey(pem: folder.secret("key")) == key)
    }

    /// Numbers of a short prime, whose private exponents are known, and primes without one.
    @Test(
        arguments: [
            (23, [3], 15), (0xFFF1, [1, 0, 1], 30833), (101, [3], 67), (271, [1, 0, 0, 0, 1], 263), (7, [3], nil),
            (1, [3], nil),
        ] as [(Int, [UInt8], Int?)])
    func privateExponent_ofAPrime_isTheInverseOfThePublicOne(prime: Int, exponent: [UInt8], expected: Int?) throws {
        let bytes = SecretSlice(SecretBytes(Data([UInt8(prime >> 8), UInt8(prime & 0xFF)])))
        guard let expected else {
            #expect(throws: KeyFailure.self) { try RSANumbers.privateExponent(of: bytes, for: exponent) }
            return
        }
        let found = try RSANumbers.privateExponent(of: bytes, for: exponent).data
        #expect(found.reduce(0) { $0 << 8 | Int($1) } == expected)
    }

    @Test func ed25519_ofSSHKeygen_isRead() throws {
        let folder = try OpenSSL()
        _ = try generate("-t ed25519", in: folder)
        let key = try PrivateKey(pem: folder.secret("key"))
        let line = try String(decoding: folder.read("key.pub"), as: UTF8.self)
        let blob = Data(base64: String(line.split(separator: " ")[1]))
        #expect(key.kind == .ed25519 && blob.suffix(32) == key.publicKey.externalRepresentation)
    }

    @Test(arguments: ["-t ecdsa -b 256", "-t ecdsa -b 384", "-t ecdsa -b 521", "-t ed25519", "-t rsa -b 2048"])
    func publicKey_ofSSHKeygen_hasItsLineAndFingerprint(options: String) throws {
        let folder = try OpenSSL()
        _ = try generate(options, in: folder)
        let key = try PrivateKey(pem: folder.secret("key")).publicKey
        let line = try String(decoding: folder.read("key.pub"), as: UTF8.self)
        #expect(key.openSSH(comment: "comment").map { $0 + "\n" } == line)
        #expect(key.openSSH(comment: "comm\nent")?.hasSuffix(" comm?ent") == true)
        let listed = try String(decoding: folder.attempt(sshKeygen, ["-lf", "key.pub"]).output, as: UTF8.self)
        #expect(key.fingerprint.map { listed.contains(" \($0) ") } == true)
    }

    @Test func publicKey_ofX25519_hasNoFormOfSSH() throws {
        let key = try PrivateKey.generate(.x25519)
        #expect(key.publicKey.openSSH() == nil && key.publicKey.fingerprint == nil)
        #expect(throws: KeyFailure.algorithmNotSupported) { try key.loaded().sshSignature(of: Data()) }
    }

    @Test(arguments: ["", "-Z aes256-ctr -a 3", "-Z aes128-ctr -a 1", "-Z aes192-ctr -a 1", "-Z aes256-cbc -a 2"])
    func key_withAPassphrase_opens(options: String) throws {
        let folder = try OpenSSL()
        let publicKey = try generate("-t ecdsa -b 384 \(options)", passphrase: "correct horse", in: folder)
        let text = try folder.secret("key")
        let key = try PrivateKey(pem: text, passphrase: SecretBytes("correct horse"))
        #expect(key.publicKey.pem == String(decoding: publicKey, as: UTF8.self))
        #expect(throws: KeyFailure.passphraseRequired) { try PrivateKey(pem: text) }
        for wrong in ["", "wrong"] {
            #expect(throws: KeyFailure.wrongPassphrase) { try PrivateKey(pem: text, passphrase: SecretBytes(wrong)) }
        }
    }

    @Test(arguments: ["-Z aes256-gcm@openssh.com -a 1", "-Z chacha20-poly1305@openssh.com -a 1"])
    func key_withAnotherCipher_isUnsupported(options: String) throws {
        let folder = try OpenSSL()
        _ = try generate("-t ed25519 \(options)", passphrase: "correct horse", in: folder)
        let name = String(options.split(separator: " ")[1])
        #expect(throws: KeyFailure.unsupportedAlgorithm(name)) {
            try PrivateKey(pem: folder.secret("key"), passphrase: SecretBytes("correct horse"))
        }
    }

    @Test(arguments: [0, 513, 1 << 31, Int(UInt32.max)])
    func rounds_beyondTheLimit_areRefusedAtOnce(rounds: Int) throws {
        let folder = try OpenSSL()
        _ = try generate("-t ed25519 -a 1", passphrase: "correct horse", in: folder)
        var bytes = try PEMBlock.all(in: folder.secret("key"))[0].content.data
        // Magic, cipher, derivation, then options: their length, the salt with its length, and the rounds.
        let start = 15 + (4 + 10) + (4 + 6) + 4 + (4 + 16)
        #expect(bytes[start..<start + 4] == Data([0, 0, 0, 1]))
        bytes.replaceSubrange(start..<start + 4, with: withUnsafeBytes(of: UInt32(rounds).bigEndian) { Data($0) })
        #expect(throws: KeyFailure.limitExceeded("rounds of the key derivation")) {
            try PrivateKey(openSSH: SecretBytes(bytes), passphrase: SecretBytes("correct horse"))
        }
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
