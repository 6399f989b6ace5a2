// SPDX-License-Identifier: Apache-2.0
// PKCS#12 files: what is written is read, what belongs together, and bad files.

import Crypto
import Foundation
import SecretMemory
import SwiftASN1
import Testing

@testable import KeychainKeys

/// A PKCS#12 file with any content and the right checksum, or another one.
private struct FileBuilder {
    var parts: [DERNode] = []
    var passphrase = "correct horse"
    var rounds = 1
    var salt = [UInt8](repeating: 7, count: 8)
    var version = 3
    var hasChecksum = true

    static func data(_ content: DERNode) -> DERNode { .sequence(.oid(.data), .context(0, .octets(content))) }

    static func bags(_ bags: [DERNode]) -> DERNode { data(.element(DERTag.sequence, bags)) }

    static func key(_ key: PrivateKey, identifier: [UInt8]? = nil, name: String? = nil) throws -> DERNode {
        .element(
            DERTag.sequence,
            [.oid(.keyBag), .context(0, .secret(try key.pkcs8()))] + attributes(identifier, name))
    }

    static func certificate(_ der: Data, identifier: [UInt8]? = nil, name: String? = nil) -> DERNode {
        let content = DERNode.sequence(.oid(.x509Certificate), .context(0, .octets(.bytes([UInt8](der)))))
        return .element(
            DERTag.sequence, [.oid(.certificateBag), .context(0, content)] + attributes(identifier, name))
    }

    private static func attributes(_ identifier: [UInt8]?, _ name: String?) -> [DERNode] {
        var nodes: [DERNode] = []
        if let identifier { nodes.append(.sequence(.oid(.localKeyIdentifier), .set(.octets(.bytes(identifier))))) }
        if let name {
            let units = name.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
            nodes.append(.sequence(.oid(.friendlyName), .set(.element(StringTag.bmp, [.bytes(units)]))))
        }
        return nodes.isEmpty ? [] : [.element(DERTag.set, nodes)]
    }

    func file() throws -> Data {
        let content = DERNode.element(DERTag.sequence, parts).encoded
        let derivation = PKCS12Derivation(hash: .sha256, salt: salt, rounds: min(rounds, 10))
        let key = try derivation.bytes(.authentication, PKCS12Passphrase(SecretBytes(passphrase)), count: 32)
        let code = HMAC<SHA256>.authenticationCode(for: content, using: SymmetricKey(data: key.data))
        let checksum = DERNode.sequence(
            .sequence(.algorithm(.sha256, .null), .octets(.bytes(Array(code)))), .octets(.bytes(salt)), .integer(rounds)
        )
        let nodes = [.integer(version), Self.data(.bytes(content))] + (hasChecksum ? [checksum] : [])
        return Data(DERNode.element(DERTag.sequence, nodes).encoded)
    }

    func read() throws -> PKCS12 { try PKCS12(file(), passphrase: SecretBytes(passphrase)) }
}

struct PKCS12Tests {
    private let passphrase = SecretBytes("correct horse")

    private func identity(_ name: String? = "näme 𝄞") throws -> PKCS12.Identity {
        PKCS12.Identity(
            key: try KnownKey.privateKey(KnownKey.p256), chain: [try Certificate(der: KnownCertificate.der)], name: name
        )
    }

    // MARK: - Writing and reading

    @Test(arguments: ["näme 𝄞", nil])
    func file_ofAnIdentity_isReadAgain(name: String?) throws {
        let file = try identity(name).file(passphrase: passphrase, rounds: 3)
        let read = try PKCS12(file, passphrase: passphrase)
        let found = try #require(read.identities().first)
        #expect(try found.key == identity().key && found.chain == identity().chain && found.name == name)
        #expect(read.keys.count == 1 && read.certificates.count == 1)
        #expect(read.keys[0].localKeyIdentifier == found.key.publicKey.applicationLabel)
        #expect(try read.otherCertificates() == [])
    }

    @Test func file_withTheSameIdentityTwice_hasItOnce() throws {
        let file = try PKCS12.file(with: [identity("a"), identity("b")], passphrase: passphrase, rounds: 3)
        let read = try PKCS12(file, passphrase: passphrase)
        #expect(read.keys.map(\.friendlyName) == ["a"])
        #expect(read.certificates.map(\.friendlyName) == ["a"])
    }

    @Test(arguments: ["", "correct horse ", "Correct horse", "c", "\u{0}"])
    func file_withAnotherPassphrase_isRefused(other: String) throws {
        let file = try identity().file(passphrase: passphrase, rounds: 3)
        #expect(throws: KeyFailure.wrongPassphrase) { try PKCS12(file, passphrase: SecretBytes(other)) }
        #expect(throws: KeyFailure.wrongPassphrase) { try PKCS12(file, passphrase: SecretBytes(Data([0xFF]))) }
    }

    @Test func file_ofAKeyWithTheCertificateOfAnother_isNotWritten() throws {
        let other = PKCS12.Identity(key: try .generate(.p256), chain: try identity().chain)
        #expect(throws: KeyFailure.self) { try other.file(passphrase: passphrase, rounds: 1) }
        let none = PKCS12.Identity(key: try .generate(.p256), chain: [])
        #expect(throws: KeyFailure.self) { try none.file(passphrase: passphrase, rounds: 1) }
        #expect(throws: KeyFailure.self) { try identity().file(passphrase: passphrase, rounds: 0) }
    }

    // MARK: - What belongs together

    @Test func identities_byIdentifierOrElseByName_arePaired() throws {
        let (key, certificate) = (try identity().key, KnownCertificate.der)
        let other = CertificateBuilder().der
        for (keyBag, certificateBags, count) in [
            (
                try FileBuilder.key(key, identifier: [1], name: "a"),
                [FileBuilder.certificate(certificate, identifier: [1])], 1
            ),
            (try FileBuilder.key(key, name: "a"), [FileBuilder.certificate(certificate, name: "a")], 1),
            (try FileBuilder.key(key, name: "a"), [FileBuilder.certificate(certificate, name: "b")], 0),
            (try FileBuilder.key(key, identifier: [1]), [FileBuilder.certificate(certificate, identifier: [2])], 0),
            (try FileBuilder.key(key), [FileBuilder.certificate(certificate)], 0),
            (
                try FileBuilder.key(key, identifier: [1]),
                [FileBuilder.certificate(other), FileBuilder.certificate(certificate, identifier: [1])], 1
            ),
        ] {
            let file = try FileBuilder(parts: [FileBuilder.bags([keyBag]), FileBuilder.bags(certificateBags)]).read()
            #expect(file.keys.count == 1 && file.certificates.count == certificateBags.count)
            #expect(try file.identities().count == count)
            #expect(try file.otherCertificates().count == certificateBags.count - count)
        }
    }

    @Test func identities_ofAKeyAndTheCertificateOfAnother_areRefused() throws {
        let bags = [
            try FileBuilder.key(.generate(.p256), identifier: [1]),
            FileBuilder.certificate(KnownCertificate.der, identifier: [1]),
        ]
        let file = try FileBuilder(parts: [FileBuilder.bags(bags)]).read()
        #expect(throws: KeyFailure.self) { try file.identities() }
    }

    @Test func bags_nestedAndUnknown_areReadAndSkipped() throws {
        let unknown = DERNode.sequence(.oid([1, 2, 3]), .context(0, .octets(.bytes([1]))))
        var bag = try FileBuilder.key(identity().key)
        for depth in 1...5 {
            let file = FileBuilder(parts: [FileBuilder.bags([unknown, bag])])
            if depth <= 4 {
                #expect(try file.read().keys.count == 1)
            } else {
                #expect(throws: KeyFailure.limitExceeded("nesting of PKCS#12")) { try file.read() }
            }
            bag = .sequence(.oid(.safeContentsBag), .context(0, .sequence(bag)))
        }
    }

    // MARK: - Bad files

    @Test func file_cutAtEveryLengthOrChanged_isRefused() throws {
        let file = try identity().file(passphrase: passphrase, rounds: 1)
        for length in 0..<file.count {
            #expect(throws: KeyFailure.self) { try PKCS12(file.prefix(length), passphrase: passphrase) }
        }
        for index in file.indices {
            var changed = file
            changed[index] ^= 0x41
            // The NULL beside the name of the hash is not read.
            guard let read = try? PKCS12(changed, passphrase: passphrase) else { continue }
            #expect(read.keys.map(\.content) == [try identity().key])
        }
    }

    @Test func contents_changedUnderARightChecksum_endWithoutATrap() throws {
        let bags = DERNode.element(
            DERTag.sequence,
            [
                try FileBuilder.key(identity().key, identifier: [1], name: "a"),
                FileBuilder.certificate(KnownCertificate.der, identifier: [1]),
            ]
        ).encoded
        for index in bags.indices {
            var changed = bags
            changed[index] ^= 0x83
            let file = try FileBuilder(parts: [FileBuilder.data(.bytes(changed))]).file()
            _ = try? PKCS12(file, passphrase: passphrase).identities()
            let cut = try FileBuilder(parts: [FileBuilder.data(.bytes([UInt8](bags.prefix(index))))]).file()
            #expect(throws: KeyFailure.self) { try PKCS12(cut, passphrase: passphrase) }
        }
    }

    @Test(arguments: [0, 10_000_001, 20_000_000, 1 << 31, 1 << 33])
    func rounds_beyondTheLimit_areRefusedAtOnce(rounds: Int) throws {
        #expect(throws: KeyFailure.self) { try FileBuilder(rounds: rounds).read() }
        let scheme = DERNode.algorithm(
            .pbes2,
            .sequence(
                .algorithm(.pbkdf2, .sequence(.octets(.bytes([1])), .integer(rounds))),
                .algorithm(.aes256CBC, .octets(.bytes([UInt8](repeating: 0, count: 16))))))
        let old = DERNode.algorithm(.pkcs12TripleDES, .sequence(.octets(.bytes([1])), .integer(rounds)))
        for scheme in [scheme, old] {
            let bag = DERNode.sequence(
                .oid(.shroudedKeyBag),
                .context(0, .sequence(scheme, .octets(.bytes([UInt8](repeating: 0, count: 16))))))
            #expect(throws: KeyFailure.self) { try FileBuilder(parts: [FileBuilder.bags([bag])]).read() }
        }
    }

    @Test func rounds_ofAllPartsTogether_haveALimit() throws {
        // The checksum, the certificates and the key.
        let file = try identity().file(passphrase: passphrase, rounds: 7)
        #expect(try PKCS12(file, passphrase: passphrase, limit: 21).keys.count == 1)
        #expect(throws: KeyFailure.limitExceeded("rounds of the key derivation")) {
            try PKCS12(file, passphrase: passphrase, limit: 20)
        }
    }

    @Test func rounds_ofTheChecksumAlone_areLimitedBeforeTheyAreMade() throws {
        let file = try identity().file(passphrase: passphrase, rounds: 7)
        let wrong = Array("wrong".utf8).withUnsafeBytes { SecretBytes(copying: $0) }
        #expect(throws: KeyFailure.wrongPassphrase) { try PKCS12(file, passphrase: wrong, limit: 7) }
        #expect(throws: KeyFailure.limitExceeded("rounds of the key derivation")) {
            try PKCS12(file, passphrase: wrong, limit: 6)
        }
    }

    @Test func contents_tooMany_areRefused() throws {
        let bag = DERNode.sequence(.oid([1, 2, 3]), .context(0, .null))
        #expect(try FileBuilder(parts: [FileBuilder.bags(Array(repeating: bag, count: 1000))]).read().keys.isEmpty)
        #expect(throws: KeyFailure.limitExceeded("contents of PKCS#12")) {
            try FileBuilder(parts: [FileBuilder.bags(Array(repeating: bag, count: 1001))]).read()
        }
    }

    @Test func certificate_aboveItsLimit_isRefused() throws {
        let bag = FileBuilder.certificate(CertificateBuilder.tooLarge)
        #expect(throws: KeyFailure.limitExceeded("certificate")) {
            try FileBuilder(parts: [FileBuilder.bags([bag])]).read()
        }
    }

    @Test func file_withoutChecksumOrOfAnotherVersion_isMalformed() throws {
        #expect(throws: KeyFailure.malformed("PKCS#12 without a checksum")) {
            try FileBuilder(hasChecksum: false).read()
        }
        #expect(throws: KeyFailure.malformed("PKCS#12")) { try FileBuilder(version: 2).read() }
        for salt in [0, 1025] {
            #expect(throws: KeyFailure.self) { try FileBuilder(salt: [UInt8](repeating: 0, count: salt)).read() }
        }
        for bytes in [Data(), Data("text".utf8), KnownCertificate.der, Data(repeating: 0x30, count: 1000)] {
            #expect(throws: KeyFailure.self) { try PKCS12(bytes, passphrase: passphrase) }
        }
        #expect(throws: KeyFailure.limitExceeded("PKCS#12 file")) {
            try PKCS12(Data(count: 16 << 20 + 1), passphrase: passphrase)
        }
    }

    @Test func nesting_tenThousandDeep_isRefused() throws {
        var bytes: [UInt8] = []
        for _ in 0..<10_000 { bytes = DERNode.header(DERTag.sequence, bytes.count) + bytes }
        let open = Data(repeating: 0, count: 0) + Data((0..<10_000).flatMap { _ in [UInt8(0x30), 0x80] })
        for file in [Data(bytes), open, open + Data(count: 20_000)] {
            #expect(throws: KeyFailure.self) { try PKCS12(file, passphrase: passphrase) }
        }
        let file = FileBuilder(parts: [FileBuilder.data(.bytes(bytes)), FileBuilder.data(.bytes([UInt8](open)))])
        #expect(throws: KeyFailure.self) { try file.read() }
    }

    // MARK: - BER

    @Test func file_inIndefiniteLengthsAndPieces_isRead() throws {
        let der = try identity().file(passphrase: passphrase, rounds: 1)
        let ber = indefinite([UInt8](der)[...])
        #expect(ber.starts(with: [0x30, 0x80]) && ber.count > der.count)
        #expect(try PKCS12(Data(ber), passphrase: passphrase).identities().first?.key == identity().key)
        for length in 0..<ber.count {
            #expect(throws: KeyFailure.self) { try PKCS12(Data(ber.prefix(length)), passphrase: passphrase) }
        }
    }

    /// The same elements in BER; octet strings in pieces of at most 100 bytes.
    private func indefinite(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var (reader, result) = (DERReader(bytes, "test"), [UInt8]())
        while let element = try? reader.next() {
            if element.tag & 0x20 != 0 {
                result += [element.tag, 0x80] + indefinite(element.content) + [0, 0]
            } else if element.tag == DERTag.octetString, element.content.count > 100 {
                result += [0x24, 0x80]
                for start in stride(from: 0, to: element.content.count, by: 100) {
                    let piece = element.content.dropFirst(start).prefix(100)
                    result += DERNode.octets(.bytes([UInt8](piece))).encoded
                }
                result += [0, 0]
            } else {
                result += element.encoded
            }
        }
        return result
    }
}
