// SPDX-License-Identifier: Apache-2.0
// PKCS#12 files of openssl and of Java's keytool, and ours in their hands.

import Foundation
import SecretMemory
import Testing

@testable import KeychainKeys

@Suite(.enabled(if: OpenSSL.path != nil, OpenSSL.isMissing))
struct OpenSSLPKCS12Tests {
    /// A leaf with its key, and the authority that signed it.
    private func makeFiles(_ openssl: borrowing OpenSSL, passphrase: String = "correct horse") throws {
        try openssl("req -x509 -newkey ed25519 -nodes -keyout ca.key -subj /CN=CA -out ca.pem")
        try openssl(
            "req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout k.pem -subj /CN=Leaf -out c.csr")
        try openssl("x509 -req -in c.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -out c.pem")
        try openssl.write(Data(passphrase.utf8), "passphrase")
    }

    private func check(_ openssl: borrowing OpenSSL, _ file: PKCS12, name: String? = "n") throws {
        let leaf = try Certificate.all(pem: openssl.secret("c.pem"))
        let authority = try Certificate.all(pem: openssl.secret("ca.pem"))
        let identity = try #require(file.identities().first)
        #expect(try identity.key == PrivateKey(pem: openssl.secret("k.pem")))
        #expect(identity.chain == leaf + authority && identity.name == name)
        #expect(try file.identities().count == 1 && file.otherCertificates() == [])
    }

    private static let export = "pkcs12 -export -inkey k.pem -in c.pem -certfile ca.pem -name n -out f.p12"

    @Test(arguments: [
        "", "-legacy", "-legacy -keypbe PBE-SHA1-RC2-128 -certpbe PBE-SHA1-3DES", "-keypbe NONE -certpbe NONE",
        "-macalg sha512 -iter 10000", "-macalg sha384 -iter 3", "-macalg sha224", "-macalg sha1 -nomaciter",
        "-keypbe AES-128-CBC -certpbe AES-192-CBC",
        "-keypbe DES-EDE3-CBC -certpbe DES-EDE3-CBC",
    ])
    func file_ofOpenSSL_isRead(options: String) throws {
        let openssl = try OpenSSL()
        try makeFiles(openssl)
        try openssl("\(Self.export) -passout file:passphrase \(options)")
        try check(openssl, PKCS12(openssl.read("f.p12"), passphrase: SecretBytes("correct horse")))
        for wrong in ["wrong", ""] {
            #expect(throws: KeyFailure.wrongPassphrase) {
                try PKCS12(openssl.read("f.p12"), passphrase: SecretBytes(wrong))
            }
        }
    }

    @Test(arguments: ["", "pä𝄞"])
    func file_withSuchAPassphrase_isRead(passphrase: String) throws {
        for options in ["", "-legacy"] {
            let openssl = try OpenSSL()
            try makeFiles(openssl, passphrase: passphrase + "\n")
            try openssl("\(Self.export) -passout file:passphrase \(options)")
            try check(openssl, PKCS12(openssl.read("f.p12"), passphrase: SecretBytes(passphrase)))
        }
    }

    @Test func file_withOnlyCertificatesOrOnlyAKey_hasNoIdentity() throws {
        let openssl = try OpenSSL()
        try makeFiles(openssl)
        try openssl("\(Self.export) -passout file:passphrase -nokeys")
        let certificates = try PKCS12(openssl.read("f.p12"), passphrase: SecretBytes("correct horse"))
        #expect(try certificates.identities().isEmpty && certificates.otherCertificates().count == 2)
        try openssl("pkcs12 -export -inkey k.pem -nocerts -out f.p12 -passout file:passphrase")
        let key = try PKCS12(openssl.read("f.p12"), passphrase: SecretBytes("correct horse"))
        #expect(try key.identities().isEmpty && key.keys.count == 1 && key.certificates.isEmpty)
    }

    @Test func file_withoutChecksum_isMalformed() throws {
        let openssl = try OpenSSL()
        try makeFiles(openssl)
        try openssl("\(Self.export) -passout file:passphrase -nomac")
        #expect(throws: KeyFailure.malformed("PKCS#12 without a checksum")) {
            try PKCS12(openssl.read("f.p12"), passphrase: SecretBytes("correct horse"))
        }
    }

    @Test func file_withAChecksumOfAnotherHash_cannotBeChecked() throws {
        let openssl = try OpenSSL()
        try makeFiles(openssl)
        try openssl("\(Self.export) -passout file:passphrase -macalg sha3-256")
        #expect(throws: KeyFailure.unsupportedAuthentication("2.16.840.1.101.3.4.2.8")) {
            try PKCS12(openssl.read("f.p12"), passphrase: SecretBytes("correct horse"))
        }
    }

    @Test func file_cutInHalf_isMalformed() throws {
        let openssl = try OpenSSL()
        try makeFiles(openssl)
        try openssl("\(Self.export) -passout file:passphrase")
        let file = try openssl.read("f.p12")
        #expect(throws: KeyFailure.malformed("PKCS#12")) {
            try PKCS12(file.prefix(file.count / 2), passphrase: SecretBytes("correct horse"))
        }
    }

    @Test(arguments: ["correct horse", "", "pä𝄞"])
    func file_ofOurs_isReadByOpenSSL(passphrase: String) throws {
        let openssl = try OpenSSL()
        try makeFiles(openssl, passphrase: passphrase + "\n")
        let chain = try Certificate.all(pem: openssl.secret("c.pem")) + Certificate.all(pem: openssl.secret("ca.pem"))
        let key = try PrivateKey(pem: openssl.secret("k.pem"))
        let file = try PKCS12.Identity(key: key, chain: chain, name: "a name")
            .file(passphrase: SecretBytes(passphrase), rounds: 2048)
        try openssl.write(file, "ours.p12")
        let text = try String(
            decoding: openssl("pkcs12 -in ours.p12 -passin file:passphrase -info -nodes"), as: UTF8.self)
        try openssl("pkcs12 -in ours.p12 -passin file:passphrase -nodes -out all.pem")
        #expect(try PrivateKey(pem: openssl.secret("all.pem")) == key)
        #expect(try Certificate.all(pem: openssl.secret("all.pem")) == chain)
        #expect(text.contains("friendlyName: a name") && text.contains("MAC: sha256, Iteration 2048"))
        #expect(text.contains("PBES2, PBKDF2, AES-256-CBC, Iteration 2048, PRF hmacWithSHA256"))
    }

    @Test(arguments: ["-v1 PBE-SHA1-3DES", "-v1 PBE-SHA1-RC2-40", "-v1 PBE-SHA1-RC2-128", "-v2 des3"])
    func encryptedPKCS8_withALegacyCipher_opens(options: String) throws {
        let openssl = try OpenSSL()
        try openssl.write(Data("correct horse".utf8), "passphrase")
        try openssl("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out key.pem")
        try openssl(
            "pkcs8 -provider legacy -provider default -topk8 -in key.pem -passout file:passphrase \(options) -out e.pem"
        )
        let key = try PrivateKey(pem: openssl.secret("key.pem"))
        #expect(try PrivateKey(pem: openssl.secret("e.pem"), passphrase: SecretBytes("correct horse")) == key)
    }

    @Test func encryption_withRC4_isUnsupported() throws {
        let openssl = try OpenSSL()
        try makeFiles(openssl)
        try openssl("\(Self.export) -passout file:passphrase -legacy -keypbe PBE-SHA1-RC4-128")
        #expect(throws: KeyFailure.unsupportedAlgorithm("1.2.840.113549.1.12.1.1")) {
            try PKCS12(openssl.read("f.p12"), passphrase: SecretBytes("correct horse"))
        }
    }

    @Test func derivation_ofPKCS12_isThatOfOpenSSL() throws {
        // For each purpose and hash, with one and with several blocks.
        for (hash, purpose, name) in [
            (KeyHash.sha1, PKCS12Derivation.Purpose.key, "SHA1"), (.sha256, .initializationVector, "SHA256"),
            (.sha384, .authentication, "SHA384"), (.sha512, .key, "SHA512"), (.sha224, .authentication, "SHA224"),
        ] {
            for count in [5, 24, 64, 200] {
                let openssl = try OpenSSL()
                let passphrase = try PKCS12Passphrase(SecretBytes("correct horse, a long one"))
                let salt = [UInt8](repeating: 0xB7, count: 11)
                let options = [
                    "digest:\(name)", "hexpass:\(passphrase.utf16.data.hex)", "hexsalt:\(Data(salt).hex)", "iter:7",
                    "id:\(purpose.rawValue)",
                ].map { "-kdfopt \($0)" }.joined(separator: " ")
                try openssl("kdf -keylen \(count) -binary -out derived \(options) PKCS12KDF")
                let derivation = PKCS12Derivation(hash: hash, salt: salt, rounds: 7)
                #expect(try derivation.bytes(purpose, passphrase, count: count).data == openssl.read("derived"))
            }
        }
    }
}

private let keytool = ["/usr/bin/keytool", "/usr/local/bin/keytool"].first {
    FileManager.default.isExecutableFile(atPath: $0)
}

@Suite(.enabled(if: keytool != nil && OpenSSL.path != nil, "Java's keytool is not installed"))
struct KeytoolTests {
    @Test func file_ofKeytool_isRead() throws {
        let folder = try OpenSSL()
        try folder.write(Data("correct horse".utf8), "passphrase")
        let made = try folder.attempt(
            keytool,
            "-genkeypair -alias leaf -keyalg EC -groupname secp384r1 -dname CN=Leaf -storetype PKCS12 -keystore f.p12"
                .split(separator: " ").map(String.init) + ["-storepass:file", "passphrase"])
        try #require(made.succeeded, "\(String(decoding: made.output, as: UTF8.self))")
        let identity = try #require(
            PKCS12(folder.read("f.p12"), passphrase: SecretBytes("correct horse")).identities().first)
        #expect(identity.key.kind == .p384 && identity.chain[0].commonName == "Leaf" && identity.name == "leaf")
    }

    @Test func file_ofOurs_isReadByKeytool() throws {
        let folder = try OpenSSL()
        try folder.write(Data("correct horse".utf8), "passphrase")
        let identity = PKCS12.Identity(
            key: try KnownKey.privateKey(KnownKey.p256), chain: [try Certificate(der: KnownCertificate.der)],
            name: "leaf")
        try folder.write(identity.file(passphrase: SecretBytes("correct horse"), rounds: 2048), "ours.p12")
        let listed = try folder.attempt(
            keytool,
            ["-list", "-storetype", "PKCS12", "-keystore", "ours.p12", "-storepass:file", "passphrase"])
        let text = String(decoding: listed.output, as: UTF8.self)
        #expect(listed.succeeded && text.contains("leaf, ") && text.contains("PrivateKeyEntry"))
    }
}
