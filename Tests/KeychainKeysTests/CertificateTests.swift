// SPDX-License-Identifier: Apache-2.0
// Certificates: what is accepted, what is refused, and what the fields say.

import Foundation
import SecretMemory
import SwiftASN1
import Testing

@testable import KeychainKeys

struct CertificateTests {
    private let known = KnownCertificate.der

    private func attempt(_ change: (inout CertificateBuilder) -> Void) -> Certificate? {
        var builder = CertificateBuilder()
        change(&builder)
        return try? Certificate(der: builder.der)
    }

    // MARK: - The known certificate

    @Test func fields_ofTheKnownCertificate_areRead() throws {
        let certificate = try Certificate(der: known)
        #expect(certificate.version == 3 && certificate.serialNumber.hex == "00a1b2")
        #expect(certificate.subjectSummary == "Leaf One" && certificate.commonName == "Leaf One")
        #expect(certificate.emailAddresses == ["a@leaf.example"])
        #expect(certificate.dnsNames == ["leaf.example", "*.w.example"])
        #expect(certificate.extendedKeyUsages == ["1.3.6.1.5.5.7.3.2"] && certificate.keyUsage == nil)
        #expect(certificate.notBefore == Date(timeIntervalSince1970: 1_704_067_200))
        #expect(certificate.notAfter == Date(timeIntervalSince1970: 2_524_521_600))
        #expect(certificate.namesIssuer(certificate) && !certificate.isAuthority)
    }

    @Test func key_ofTheKnownCertificate_isThatOfThePrivateKey() throws {
        let certificate = try Certificate(der: known)
        let key = try KnownKey.privateKey(KnownKey.p256).publicKey
        #expect(certificate.publicKey == key)
        #expect(certificate.publicKeyHash == key.applicationLabel)
        #expect(certificate.subjectKeyIdentifier == key.applicationLabel)
    }

    @Test func normalizedSubject_ofTheKnownCertificate_isAppleForm() throws {
        let certificate = try Certificate(der: known)
        let content = """
            310b300906035504061302444531133011060355040a130a41434d4520544f4f4c533111300f060355040313084c454146204f4e45
            """
        #expect(certificate.normalizedSubject?.hex == content && certificate.normalizedIssuer?.hex == content)
        #expect(certificate.normalizedSubjectSequence?.hex == "3035" + content)
        #expect(certificate.normalizedIssuerSequence?.hex == "3035" + content)
        let name = known.dropFirst(30).prefix(57)
        #expect(Certificate.normalizedName(name)?.hex == content)
        #expect(Certificate.normalizedName(Data(hex: content))?.hex == content)
        #expect(Certificate.normalizedName(Data("text".utf8)) == nil)
    }

    @Test func columns_ofACertificate_areItsFields() throws {
        let columns = CertificateColumns(try Certificate(der: known))
        #expect(columns.type == 3 && columns.encoding == 3 && columns.serialNumber.hex == "00a1b2")
        #expect(columns.subject?.hex.hasPrefix("310b3009") == true && columns.issuer == columns.subject)
        #expect(columns.publicKeyHash.hex == "a30b4ea027c1da5448b14442e74d85d9c5b38b6e")
        #expect(columns.subjectKeyIdentifier == columns.publicKeyHash && columns.label == "Leaf One")
        // A name that is damaged, and no extension.
        let other = CertificateColumns(try #require(attempt { $0.subject = .sequence(.set()) }))
        #expect(other.subject == nil && other.label == nil && other.subjectKeyIdentifier == nil)
    }

    // MARK: - What is accepted

    @Test func init_withBytesBehind_keepsTheCertificateOnly() throws {
        let certificate = try Certificate(der: known + [1, 2, 3])
        #expect(try certificate.der == known && certificate == Certificate(der: known))
        #expect(Set([certificate, try Certificate(der: known)]).count == 1)
    }

    @Test(arguments: ["00", "80", "ff7f", "00a1b2", String(repeating: "7f", count: 37)])
    func serialNumber_alsoNegativeOrZero_isAccepted(hex: String) {
        #expect(attempt { $0.serialNumber = [UInt8](Data(hex: hex)) }?.serialNumber.hex == hex)
    }

    @Test func version_absentOrOneOrTwo_isAccepted() {
        #expect(attempt { $0.version = nil }?.version == 1)
        #expect(attempt { $0.version = .context(0, .integer(1)) }?.version == 2)
    }

    @Test func key_notSupported_isNone() throws {
        let certificate = try #require(attempt { _ in })
        #expect(certificate.publicKey == nil && certificate.publicKeyHash.count == 20)
        let onNoPoint = DERNode.sequence(KeyKind.p256.algorithm, .bits([4] + [UInt8](repeating: 1, count: 64)))
        #expect(try #require(attempt { $0.key = onNoPoint }).publicKey == nil)
    }

    @Test func names_damaged_areNone() throws {
        for name in [
            DERNode.sequence(.set()), .sequence(.bytes([0x31, 0x7F, 0])),
            .sequence(.set(.sequence(.oid(.commonName)))), .sequence(.bytes([0x30, 0])),
        ] {
            let certificate = try #require(
                attempt {
                    $0.subject = name
                    $0.issuer = name
                })
            #expect(certificate.normalizedSubject == nil && certificate.normalizedIssuerSequence == nil)
            #expect(certificate.commonName == nil && certificate.subjectSummary == nil)
        }
    }

    @Test func extension_thatCannotBeRead_countsWhereItIsCritical() {
        for name in [ASN1ObjectIdentifier.basicConstraints, .keyUsage, .subjectAlternativeName, .extendedKeyUsage] {
            let entry = { CertificateBuilder.entry(name, isCritical: $0, .bytes([0x30, 5])) }
            #expect(attempt { $0.setExtensions([entry(false)]) }?.extensions.count == 1)
            #expect(attempt { $0.setExtensions([entry(true)]) } == nil)
        }
        let unknown = CertificateBuilder.entry([1, 2, 3, 4], isCritical: true, .bytes([0xFF]))
        let certificate = attempt { $0.setExtensions([unknown, unknown]) }
        #expect(certificate?.extensions.map(\.identifier) == ["1.2.3.4", "1.2.3.4"])
        #expect(certificate?.extensions.allSatisfy { $0.isCritical && $0.value == Data([0xFF]) } == true)
    }

    @Test func extension_damagedInTheMiddle_isMissing() {
        let constraints = DERNode.sequence(.element(DERTag.boolean, [.bytes([0xFF])]), .null)
        let certificate = attempt {
            $0.setExtensions([CertificateBuilder.entry(.basicConstraints, constraints)])
        }
        #expect(certificate?.isAuthority == false)
    }

    /// A list that counted as missing would make the certificate one for all purposes.
    @Test func purposes_thatAreDamaged_areNone() {
        let list = DERNode.sequence(.oid([1, 3, 6, 1, 5, 5, 7, 3, 2]), .null)
        let certificate = attempt { $0.setExtensions([CertificateBuilder.entry(.extendedKeyUsage, list)]) }
        #expect(certificate?.extendedKeyUsages == [])
        let critical = CertificateBuilder.entry(.extendedKeyUsage, isCritical: true, list)
        #expect(attempt { $0.setExtensions([critical]) } == nil)
    }

    @Test func issuer_withoutAName_isNamedByNone() throws {
        let certificate = try #require(attempt { _ in })
        #expect(certificate.normalizedSubject == Data() && !certificate.namesIssuer(certificate))
        #expect(certificate.chain(from: [certificate]) == [certificate])
    }

    private static func certificate(
        _ subject: String, by issuer: String, years: ClosedRange<Int>
    ) throws -> Certificate {
        var builder = CertificateBuilder()
        builder.subject = .sequence(CertificateBuilder.attribute(.commonName, subject))
        builder.issuer = .sequence(CertificateBuilder.attribute(.commonName, issuer))
        builder.notBefore = CertificateBuilder.time("\(years.lowerBound)0101000000Z")
        builder.notAfter = CertificateBuilder.time("\(years.upperBound)0101000000Z")
        return try Certificate(der: builder.der)
    }

    /// The years in which each issuer of the name is valid, the year in question, and which one is taken.
    @Test(arguments: [
        ([16...20, 20...40], 25, 1), ([20...40, 16...20], 25, 0), ([16...20, 20...40], 18, 0),
        ([16...45, 20...40, 18...48, 30...49], 25, 2), ([16...20, 17...22, 15...21], 25, 1),
        ([30...40, 16...20], 25, 0), ([16...20], 25, 0),
    ])
    func chain_withIssuersOfOneName_hasTheValidOneThatIsValidLongest(
        validity: [ClosedRange<Int>], year: Int, expected: Int
    ) throws {
        let leaf = try Self.certificate("Leaf", by: "Authority", years: 24...26)
        let root = try Self.certificate("Root", by: "Root", years: 10...49)
        let issuers = try validity.map { try Self.certificate("Authority", by: "Root", years: $0) }
        let date = try Self.certificate("Leaf", by: "Root", years: year...year).notBefore
        let chain = leaf.chain(from: issuers + [root, leaf], at: date + 1)
        #expect(chain == [leaf, issuers[expected], root])
    }

    @Test func extensions_thatAreUnderstood_areRead() {
        let certificate = attempt {
            $0.setExtensions([
                CertificateBuilder.entry(
                    .basicConstraints, isCritical: true,
                    .sequence(.element(DERTag.boolean, [.bytes([0xFF])]), .integer(0))),
                CertificateBuilder.entry(.keyUsage, isCritical: true, .element(DERTag.bitString, [.bytes([1, 0x06])])),
            ])
        }
        #expect(certificate?.isAuthority == true && certificate?.keyUsage == 0x0600)
    }

    // MARK: - What is refused

    @Test func serialNumber_emptyOrTooLong_isRefused() {
        #expect(attempt { $0.serialNumber = [] } == nil)
        #expect(attempt { $0.serialNumber = [UInt8](repeating: 1, count: 38) } == nil)
    }

    @Test(arguments: [0, 3, 4, 255, 65_537])
    func version_another_isRefused(number: Int) {
        #expect(attempt { $0.version = .context(0, .integer(number)) } == nil)
    }

    @Test func extensions_noneOrTooMany_areRefused() {
        let entry = CertificateBuilder.entry([1, 2, 3], .null)
        #expect(attempt { $0.setExtensions([]) } == nil)
        #expect(attempt { $0.setExtensions(Array(repeating: entry, count: 5000)) }?.extensions.count == 5000)
        #expect(attempt { $0.setExtensions(Array(repeating: entry, count: 20_001)) } == nil)
    }

    @Test func init_ofWhatIsNoCertificate_isRefused() throws {
        var changed = known
        changed[1] ^= 0x03
        let pem = Data(try Certificate(der: known).pem.utf8)
        for bytes in [Data(), Data("text".utf8), pem, Data(repeating: 0x30, count: 100), changed, known.dropFirst()] {
            #expect(throws: KeyFailure.self) { try Certificate(der: bytes) }
        }
        #expect(throws: KeyFailure.limitExceeded("certificate")) { try Certificate(der: Data(count: 1 << 20 + 1)) }
    }

    @Test func init_cutAtEveryLength_isRefused() {
        for length in 0..<known.count {
            #expect(throws: KeyFailure.self) { try Certificate(der: known.prefix(length)) }
        }
    }

    @Test func init_withAByteChanged_endsWithoutATrap() {
        for index in known.indices {
            for bits in [UInt8(0x01), 0x80, 0xFF] {
                var changed = known
                changed[index] ^= bits
                guard let certificate = try? Certificate(der: changed) else { continue }
                #expect(certificate.der == changed)
                _ = (certificate.subjectSummary, certificate.normalizedIssuer, certificate.publicKey)
                _ = (certificate.emailAddresses, certificate.extendedKeyUsages)
            }
        }
    }

    @Test func lengths_indefiniteOrNotShortest_areRefused() {
        let content = known.dropFirst(4)
        #expect(throws: KeyFailure.self) { try Certificate(der: Data([0x30, 0x80]) + content + [0, 0]) }
        #expect(throws: KeyFailure.self) { try Certificate(der: Data([0x30, 0x83, 0x00, 0x01, 0xD2]) + content) }
    }

    // MARK: - Dates

    @Test(arguments: [
        ("700101000000Z", 0.0), ("491231235959Z", 2_524_607_999), ("500101000000Z", -631_152_000),
        ("2402290000Z", 1_709_164_800), ("240101020000+0200", 1_704_067_200), ("231231220000-0200", 1_704_067_200),
    ])
    func dates_inAllForms_areRead(text: String, seconds: Double) {
        let date = Date(timeIntervalSince1970: seconds)
        #expect(attempt { $0.notBefore = CertificateBuilder.time(text) }?.notBefore == date)
        let century = (Int(text.prefix(2)) ?? 0) < 50 ? "20" : "19"
        #expect(attempt { $0.notAfter = CertificateBuilder.time(century + text, tag: 0x18) }?.notAfter == date)
    }

    @Test(arguments: [
        "", "Z", "24", "240001000000Z", "241301000000Z", "240100000000Z", "230229000000Z", "240101240000Z",
        "240101006000Z",
        "240101000061Z", "240101000000", "240101000000Zx", "240101000000+02", "2401010000000Z", "24010100000aZ",
        "-40101000000Z",
    ])
    func dates_damaged_areRefused(text: String) {
        #expect(attempt { $0.notBefore = CertificateBuilder.time(text) } == nil)
        #expect(attempt { $0.notAfter = CertificateBuilder.time("20" + text, tag: 0x18) } == nil)
    }
}

struct PEMItemTests {
    @Test func all_ofAMixedText_areInTheirOrder() throws {
        let key = try PrivateKey.generate(.p256)
        let certificate = try Certificate(der: KnownCertificate.der)
        let sec1 = try PEMBlock.text("EC PRIVATE KEY", key.sec1())
        let parameters = PEMBlock.text("EC PARAMETERS", SecretBytes(Data([6, 0])))
        let text = SecretBytes.joining([
            parameters, sec1, SecretBytes(certificate.pem), SecretBytes(key.publicKey.pem),
            try key.pem(passphrase: SecretBytes("correct horse"), rounds: 1),
        ])
        let items = try PEMItem.all(in: text, passphrase: SecretBytes("correct horse"))
        guard items.count == 4, case .privateKey(let first) = items[0], case .certificate(let second) = items[1],
            case .publicKey(let third) = items[2], case .privateKey(let last) = items[3]
        else {
            Issue.record("other items: \(items.count)")
            return
        }
        #expect(first == key && second == certificate && third == key.publicKey && last == key)
        #expect(throws: KeyFailure.passphraseRequired) { try PEMItem.all(in: text) }
    }

    @Test func all_withABlockOfAnotherKind_isRefused() {
        let block = PEMBlock.text("CERTIFICATE REQUEST", SecretBytes(Data([0x30, 0])))
        #expect(throws: KeyFailure.unsupportedAlgorithm("PEM block CERTIFICATE REQUEST")) {
            try PEMItem.all(in: block)
        }
    }

    /// What follows would be left out.
    @Test func all_withBytesAfterACertificateOrKeyInItsBlock_isRefused() throws {
        let (certificate, key) = (KnownCertificate.der, try PrivateKey.generate(.p256))
        for rest in [certificate, Data([0]), Data([0x30, 0]), Data("text".utf8)] {
            let text = PEMBlock.text("CERTIFICATE", SecretBytes(certificate + rest))
            #expect(throws: KeyFailure.malformed("certificate alone")) { try PEMItem.all(in: text) }
            #expect(throws: KeyFailure.malformed("certificate alone")) { try Certificate.all(pem: text) }
            for (label, bytes) in [("PRIVATE KEY", try key.pkcs8()), ("EC PRIVATE KEY", try key.sec1())] {
                let text = PEMBlock.text(label, .joining([bytes, SecretBytes(rest)]))
                #expect(throws: KeyFailure.malformed("key")) { try PEMItem.all(in: text) }
            }
            let half = PEMBlock.text("PUBLIC KEY", SecretBytes(key.publicKey.subjectPublicKeyInfo + rest))
            #expect(throws: KeyFailure.malformed("key")) { try PEMItem.all(in: half) }
        }
        let two = PEMBlock.text("TRUSTED CERTIFICATE", SecretBytes(certificate + certificate))
        #expect(throws: KeyFailure.malformed("certificate alone")) { try Certificate.all(pem: two) }
    }

    @Test func all_withAKeyUnderAnotherLabel_readsItsBytes() throws {
        let key = try PrivateKey.generate(.p384)
        let text = try PEMBlock.text("RSA PRIVATE KEY", key.pkcs8())
        #expect(try PrivateKey(pem: text) == key)
        let wrong = PEMBlock.text("PRIVATE KEY", SecretBytes(key.publicKey.subjectPublicKeyInfo))
        #expect(throws: KeyFailure.malformed("private key: the bytes are a public key")) {
            try PEMItem.all(in: wrong)
        }
    }

    /// It would be stored, and never read again.
    @Test func all_withACertificateAboveItsLimit_isRefused() throws {
        let text = PEMBlock.text("CERTIFICATE", SecretBytes(CertificateBuilder.tooLarge))
        #expect(throws: KeyFailure.limitExceeded("certificate")) { try Certificate.all(pem: text) }
        #expect(throws: KeyFailure.limitExceeded("certificate")) { try PEMItem.all(in: text) }
    }

    @Test func file_ofACertificateAboveItsLimit_isTooLargeAndNotDamaged() throws {
        #expect(throws: KeyFailure.limitExceeded("certificate")) {
            try KeyFileContent(SecretBytes(CertificateBuilder.tooLarge))
        }
        #expect(throws: KeyFailure.malformed("key, certificate or PKCS#12 file")) {
            try KeyFileContent(SecretBytes(Data(repeating: 0x30, count: 1 << 20 + 1)))
        }
    }

    @Test func all_withTooManyBlocks_isRefused() throws {
        let block = PEMBlock.text("X", SecretBytes(Data([1])))
        let text = SecretBytes.joining(Array(repeating: block, count: 2000))
        #expect(try PEMBlock.all(in: text).count == 2000 && Certificate.all(pem: text).isEmpty)
        #expect(throws: KeyFailure.limitExceeded("blocks of a PEM text")) {
            try PEMItem.all(in: .joining([text, block]))
        }
        #expect(throws: KeyFailure.limitExceeded("PEM text")) {
            try PEMItem.all(in: SecretBytes(Data(count: 16 << 20 + 1)))
        }
    }
}

struct CertificateNameTests {
    private func certificate(_ subject: [DERNode], _ alternative: [(UInt8, String)] = []) throws -> Certificate {
        var builder = CertificateBuilder()
        builder.subject = .element(DERTag.sequence, subject)
        if !alternative.isEmpty { builder.setExtensions([CertificateBuilder.alternativeNames(alternative)]) }
        return try Certificate(der: builder.der)
    }

    private static func named(_ type: ASN1ObjectIdentifier, _ text: String) -> DERNode {
        CertificateBuilder.attribute(type, text)
    }

    private static let serial: ASN1ObjectIdentifier = [2, 5, 4, 5]

    @Test(arguments: [
        ([named(.organization, "O"), named(.commonName, "A"), named(.commonName, "B")], "B, A"),
        ([named(.organization, "O"), named(.organizationalUnit, "U"), named(.organizationalUnit, "V")], "V, U"),
        ([named(serial, "7"), named(.organization, "O")], "O"), ([named(serial, "7"), named(serial, "8")], "8, 7"),
        ([named(.commonName, "A"), named(.descriptionAttribute, "D"), named(.descriptionAttribute, "E")], "A (E, D)"),
        ([named(.organization, "O"), named(.descriptionAttribute, "D")], "O"),
        ([named(.descriptionAttribute, "D")], "D"), ([named(.commonName, ""), named(.organization, "O")], "O"),
        ([], nil),
    ])
    func subjectSummary_ofAttributes_takesTheHighestRank(subject: [DERNode], summary: String?) throws {
        #expect(try certificate(subject).subjectSummary == summary)
    }

    @Test func subjectSummary_withoutCommonName_isTheFirstAddressOrHost() throws {
        let subject = [Self.named(.organization, "O")]
        #expect(try certificate(subject, [(2, "host.example"), (1, "a@b.example")]).subjectSummary == "a@b.example")
        #expect(try certificate(subject, [(2, "host.example")]).subjectSummary == "host.example")
        let inName = CertificateBuilder.attribute(.emailAddress, "c@d.example", StringTag.ia5)
        #expect(try certificate(subject + [inName], [(2, "host.example")]).subjectSummary == "c@d.example")
        #expect(try certificate(subject).commonName == nil)
    }

    @Test func emailAddresses_areThoseBesideTheNameThenThoseInIt() throws {
        let subject = [CertificateBuilder.attribute(.emailAddress, "c@d.example", StringTag.ia5)]
        #expect(try certificate(subject, [(1, "a@b.example")]).emailAddresses == ["a@b.example", "c@d.example"])
        #expect(try certificate(subject, [(1, "ä@b.example")]).emailAddresses == [])
        #expect(try certificate([]).emailAddresses == [])
    }

    @Test(arguments: [
        (StringTag.printable, [0x41, 0x42], "AB"), (StringTag.ia5, [0x41, 0x00], "A"),
        (StringTag.utf8, [0xC3, 0xA4], "ä"), (StringTag.t61, [0xE4], "ä"), (StringTag.visible, [0xE4], "ä"),
        (StringTag.bmp, [0x01, 0x00], "Ā"), (StringTag.bmp, [0xD8, 0x34, 0xDD, 0x1E], "𝄞"),
        (StringTag.universal, [0x41], "A"), (StringTag.printable, [0xE4], nil), (StringTag.utf8, [0xC3], nil),
        (StringTag.bmp, [0x41], nil), (StringTag.bmp, [0xD8, 0x34], nil), (DERTag.integer, [0x41], nil),
        (StringTag.printable, [0x00], nil),
    ])
    func commonName_ofEachStringType_isItsText(tag: UInt8, bytes: [Int], text: String?) throws {
        let subject = [CertificateBuilder.attribute(.commonName, tag, bytes.map { UInt8($0) })]
        #expect(try certificate(subject).commonName == text)
    }

    @Test(arguments: [
        (StringTag.printable, " Ex  ample", "EX AMPLE"), (StringTag.printable, "\t a \t b\t", "A B"),
        (StringTag.printable, "   ", ""), (StringTag.utf8, " Ex  ample", " Ex  ample"),
        (StringTag.ia5, " a ", " a "), (StringTag.printable, "a-z_{`", "A-Z_{`"),
    ])
    func normalizedName_changesPrintableStringsOnly(tag: UInt8, text: String, normalized: String) throws {
        let name = CertificateBuilder.attribute(.commonName, text, tag)
        let expected = CertificateBuilder.attribute(.commonName, normalized, tag)
        #expect(try certificate([name]).normalizedSubject == Data(expected.encoded))
        #expect(Certificate.normalizedName(Data(DERNode.sequence(name).encoded)) == Data(expected.encoded))
    }

    @Test func normalizedName_thatGetsShorter_hasShortLengths() throws {
        let name = CertificateBuilder.attribute(.commonName, "x" + String(repeating: " ", count: 300) + "y", 0x13)
        #expect(try certificate([name]).normalizedSubject?.hex == "310c300a06035504031303582059")
    }
}

@Suite(.enabled(if: OpenSSL.path != nil, OpenSSL.isMissing))
struct OpenSSLCertificateTests {
    @Test func certificate_ofEveryKind_isRead() throws {
        for (kind, options) in [
            (KeyKind.p256, "ec -pkeyopt ec_paramgen_curve:P-256"), (.p521, "ec -pkeyopt ec_paramgen_curve:P-521"),
            (.ed25519, "ed25519"), (.rsa, "rsa:1024"),
        ] {
            let openssl = try OpenSSL()
            try openssl("req -x509 -newkey \(options) -nodes -keyout key.pem -subj /C=DE/O=Acme/CN=Leaf -out c.pem")
            try openssl("x509 -in c.pem -outform DER -out c.der")
            let certificate = try Certificate(der: openssl.read("c.der"))
            let key = try PrivateKey(pem: openssl.secret("key.pem"))
            #expect(key.kind == kind && certificate.publicKey == key.publicKey)
            #expect(certificate.subjectKeyIdentifier == key.publicKey.applicationLabel)
            #expect(certificate.subjectSummary == "Leaf" && certificate.isAuthority)
            #expect(try Certificate.all(pem: openssl.secret("c.pem")) == [certificate])
            #expect(try Data(certificate.pem.utf8) == openssl.read("c.pem"))
        }
    }

    @Test(arguments: [
        "ec -pkeyopt ec_paramgen_curve:secp256k1", "ec -pkeyopt ec_paramgen_curve:secp224r1", "rsa:512", "ed448",
    ])
    func certificate_withAKeyThatIsNotSupported_hasNone(options: String) throws {
        let openssl = try OpenSSL()
        try openssl("req -x509 -newkey \(options) -nodes -keyout key.pem -subj /CN=Leaf -outform DER -out c.der")
        let certificate = try Certificate(der: openssl.read("c.der"))
        #expect(certificate.publicKey == nil && certificate.commonName == "Leaf")
    }

    @Test func certificate_withTrustSettings_isReadWithoutThem() throws {
        let openssl = try OpenSSL()
        try openssl("req -x509 -newkey ed25519 -nodes -keyout key.pem -subj /CN=Leaf -out c.pem")
        for (index, settings) in ["", "-addtrust serverAuth -setalias Mine", "-addreject emailProtection"].enumerated()
        {
            try openssl("x509 -in c.pem -trustout \(settings) -out t\(index).pem")
            #expect(
                try Certificate.all(pem: openssl.secret("t\(index).pem"))
                    == Certificate.all(pem: openssl.secret("c.pem")))
        }
    }

    @Test func issuer_ofACertificate_isNamedByIt() throws {
        let openssl = try OpenSSL()
        for name in ["ca", "other"] {
            try openssl("req -x509 -newkey ed25519 -nodes -keyout \(name).key -subj /CN=CA -out \(name).pem")
        }
        try openssl("req -new -newkey ed25519 -nodes -keyout leaf.key -subj /CN=Leaf -out leaf.csr")
        try openssl("x509 -req -in leaf.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -out leaf.pem")
        let authority = try Certificate.all(pem: openssl.secret("ca.pem"))[0]
        let other = try Certificate.all(pem: openssl.secret("other.pem"))[0]
        let leaf = try Certificate.all(pem: openssl.secret("leaf.pem"))[0]
        #expect(leaf.namesIssuer(authority) && !leaf.namesIssuer(leaf))
        #expect(authority.namesIssuer(authority) && !authority.namesIssuer(other))
    }
}
