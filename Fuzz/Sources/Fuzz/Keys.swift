// SPDX-License-Identifier: Apache-2.0
// Keys and certificates in the formats of other programs.

import Crypto
import Foundation
import SecretMemory

@testable import KeychainKeys

enum Keys {
    static func certificate(_ bytes: Data) {
        guard let certificate = try? Certificate(der: bytes) else { return }
        require(bytes.starts(with: certificate.bytes), "a certificate is the beginning of its input")
        guard let again = try? Certificate(der: Data(certificate.bytes)) else {
            fatalError("a certificate is read again")
        }
        require(again == certificate && again.hashValue == certificate.hashValue, "a certificate is itself")
        require(again.normalizedSubjectContent == certificate.normalizedSubjectContent, "names have one normal form")
        require(again.serialNumber == certificate.serialNumber, "a certificate has one number")
        _ = certificate.isFor(host: "example.com")
        _ = certificate.isFor(host: "::1")
        _ = certificate.namesIssuer(again)
        _ = certificate.chain(from: [again])
    }

    /// All items of a text, or the reason why there are none.
    static func pem(_ bytes: Data) {
        let text = bytes.secret
        if let blocks = try? PEMBlock.all(in: text) {
            for block in blocks {
                let again = try? PEMBlock.all(in: PEMBlock.text(block.label, block.content))
                guard let again, again.count == 1 else { fatalError("a block is read again") }
                require(again[0].label == block.label, "a block keeps its label")
                require(again[0].content.data == block.content.data, "a block keeps its content")
            }
        }
        for item in (try? PEMItem.all(in: text)) ?? [] {
            switch item {
            case .privateKey(let key): check(key)
            case .publicKey(let key): check(key)
            case .certificate(let certificate): self.certificate(Data(certificate.bytes))
            }
        }
    }

    /// PKCS#8, SEC 1 and PKCS#1, with and without being told which.
    static func privateKey(_ bytes: Data) {
        let secret = bytes.secret
        let told = [
            try? PrivateKey(pkcs8: secret), try? PrivateKey(sec1: secret), try? PrivateKey(pkcs1: secret),
        ].compactMap(\.self)
        require(told.count <= 1, "bytes are a key in one format only")
        told.forEach(check)
        let found = try? PrivateKey(der: secret)
        require(found == told.first, "the format of a key is found by itself")
        encrypted(bytes)
    }

    /// Ten million rounds would take a minute, so only files with few are decrypted.
    private static func encrypted(_ bytes: Data) {
        guard var reader = try? DERReader.only(DERTag.sequence, in: [UInt8](bytes)[...], "encrypted PKCS#8"),
            let scheme = try? PasswordEncryption(&reader), scheme.rounds <= roundsLimit,
            let key = try? PrivateKey(encryptedPKCS8: bytes, passphrase: passphrase)
        else { return }
        check(key)
    }

    static func publicKey(_ bytes: Data) {
        if let key = try? PublicKey(subjectPublicKeyInfo: bytes) { check(key) }
        if let key = try? PublicKey(der: [UInt8](bytes)) { check(key) }
        for number in KeyKind.allCases.map(\.typeNumber) {
            if let key = try? PublicKey.importing(bytes, typeNumber: number) { check(key) }
        }
    }

    static func openSSH(_ bytes: Data) {
        for bytes in [bytes, Data("openssh-key-v1\0".utf8) + bytes] {
            if let key = try? PrivateKey(openSSH: bytes.secret) { check(key) }
        }
    }

    // MARK: - Files of any format

    /// What is read is written again as text, and read from that.
    static func keyFile(_ bytes: Data) {
        guard let content = try? KeyFileContent(bytes.secret, nil, isPKCS12: false, limit: roundsLimit) else { return }
        require(!content.isEmpty || content.isPKCS12, "only a PKCS#12 file may be empty")
        var text = Data()
        for entry in content.privateKeys {
            check(entry.content)
            guard let pem = try? entry.content.pem() else { fatalError("a key is written as text") }
            text += pem.data
        }
        for key in content.publicKeys {
            check(key)
            text += Data(key.pem.utf8)
        }
        for entry in content.certificates { text += Data(entry.content.pem.utf8) }
        guard !content.isEmpty else { return }
        guard let again = try? KeyFileContent(text.secret, nil, isPKCS12: false, limit: 0) else {
            fatalError("the content of a file is read again")
        }
        require(again.privateKeys.map(\.content) == content.privateKeys.map(\.content), "a file keeps its keys")
        require(again.publicKeys == content.publicKeys, "a file keeps its public keys")
        require(again.certificates.map(\.content) == content.certificates.map(\.content), "and its certificates")
    }

    // MARK: - PKCS#12

    private static let passphrase = Data("p".utf8).secret
    private static let roundsLimit = 64

    /// As it is, and as the content of a file with a right checksum, or nothing behind that would ever be read.
    static func pkcs12(_ bytes: Data) {
        for file in [bytes, file(content: [UInt8](bytes))] {
            guard let read = try? PKCS12(file, passphrase: passphrase, limit: roundsLimit) else { continue }
            require(read.keys.count + read.certificates.count <= PKCS12.Limits.bags, "limits hold")
            read.keys.map(\.content).forEach(check)
            guard let identities = try? read.identities() else { continue }
            for identity in identities { check(identity) }
            _ = try? read.otherCertificates()
        }
    }

    private static func check(_ identity: PKCS12.Identity) {
        require(
            identity.chain.first?.publicKeyHash == identity.key.publicKey.applicationLabel,
            "the first certificate is that of the key")
        guard let file = try? identity.file(passphrase: passphrase, rounds: 1),
            let again = try? PKCS12(file, passphrase: passphrase).identities()
        else { fatalError("an identity is written and read again") }
        require(again.count == 1 && again[0].key == identity.key, "a file keeps its key")
    }

    private static func file(content: [UInt8]) -> Data {
        guard let text = try? PKCS12Passphrase(passphrase) else { fatalError("a passphrase is text") }
        let derivation = PKCS12Derivation(hash: .sha256, salt: [1, 2, 3, 4, 5, 6, 7, 8], rounds: 1)
        let key = derivation.bytes(.authentication, text, count: 32)
        let code = key.withUnsafeBytes {
            HMAC<SHA256>.authenticationCode(for: content, using: SymmetricKey(data: $0))
        }
        let checksum = DERNode.sequence(
            .sequence(.algorithm(.sha256, .null), .octets(.bytes(Array(code)))), .octets(.bytes(derivation.salt)),
            .integer(1))
        let data = DERNode.sequence(.oid(.data), .context(0, .octets(.bytes(content))))
        return Data(DERNode.sequence(.integer(3), data, checksum).encoded)
    }

    // MARK: - What holds for every key

    private static func check(_ key: PrivateKey) {
        check(key.publicKey)
        guard let pkcs8 = try? key.pkcs8() else { fatalError("a key is written") }
        require((try? PrivateKey(pkcs8: pkcs8)) == key, "a key is read again from PKCS#8")
        if let sec1 = try? key.sec1() { require((try? PrivateKey(sec1: sec1)) == key, "and from SEC 1") }
        guard let pem = try? key.pem() else { fatalError("a key is written as text") }
        require((try? PrivateKey(pem: pem)) == key, "and from PEM")
        // The numbers of an RSA key are checked when it is used.
        _ = try? key.loaded()
    }

    private static func check(_ key: PublicKey) {
        require((try? PublicKey(subjectPublicKeyInfo: key.subjectPublicKeyInfo)) == key, "a public key is read again")
        require((try? PublicKey(pem: Data(key.pem.utf8).secret)) == key, "and from PEM")
    }
}
