// SPDX-License-Identifier: Apache-2.0
// Certificate objects: what is one, and what they tell.

import Foundation
import KeychainServices
import Testing

/// The certificate of the facts: self-signed with `TestKey.p256`.
enum TestCertificate {
    static let der = Data(
        base64: """
            MIIB0jCCAXegAwIBAgIDAKGyMAoGCCqGSM49BAMCMDcxCzAJBgNVBAYTAkRFMRUwEwYDVQQKEwwgYWNtZSAgVG9vbHMxETAPBgNVBAMTCExl\
            YWYgT25lMB4XDTI0MDEwMTAwMDAwMFoXDTQ5MTIzMTAwMDAwMFowNzELMAkGA1UEBhMCREUxFTATBgNVBAoTDCBhY21lICBUb29sczERMA8G\
            A1UEAxMITGVhZiBPbmUwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATsnL50Y0q8qFieFiHhhcFCrvvyTIq3LinweAwwquDkZF68XyLbfcWM\
            J4iktlbFNCfh4FJkdBLVAnlFeg6YcEkro3IwcDAdBgNVHQ4EFgQUowtOoCfB2lRIsURC502F2cWzi24wOgYDVR0RBDMwMYIMbGVhZi5leGFt\
            cGxlggsqLncuZXhhbXBsZYcEwAACB4EOYUBsZWFmLmV4YW1wbGUwEwYDVR0lBAwwCgYIKwYBBQUHAwIwCgYIKoZIzj0EAwIDSQAwRgIhAOVi\
            wAX8Dsjbf4PVOLwBMvt6qKo2BaqdLkG01DG1fNO+AiEA8ROOPT0+ObxlALAuM3d6qWEPclVDDPGyT3dp80GzNC4=
            """)
    /// The content of its normalized subject, which is also its issuer.
    static let name = Data(
        hex: "310b300906035504061302444531133011060355040a130a41434d4520544f4f4c53"
            + "3111300f060355040313084c454146204f4e45")
    /// SHA-1 of its public key's bits.
    static let keyHash = Data(hex: "a30b4ea027c1da5448b14442e74d85d9c5b38b6e")

    static func object() throws -> SecCertificate {
        try #require(SecCertificateCreateWithData(nil, der as CFData))
    }
}

@Suite("Certificates: objects")
struct CertificateTests {
    @Test func certificate_ofDER_hasItsBytesAlone() throws {
        let certificate = try TestCertificate.object()
        #expect(SecCertificateCopyData(certificate) as Data == TestCertificate.der)
        let longer = try #require(SecCertificateCreateWithData(nil, TestCertificate.der + [1, 2] as CFData))
        #expect(SecCertificateCopyData(longer) as Data == TestCertificate.der)
        #expect(certificate == longer && certificate.hash == longer.hash && CFEqual(certificate, longer))
    }

    @Test("K64") func bytes_thatAreNoCertificate_giveNoObject() throws {
        var changed = TestCertificate.der
        changed[1] ^= 1
        let text = TestCertificate.der.base64EncodedString()
        let pem = "-----BEGIN CERTIFICATE-----\n\(text)\n-----END CERTIFICATE-----\n"
        for bytes in [Data(), Data(pem.utf8), Data(repeating: 0x5B, count: 100), changed] {
            #expect(SecCertificateCreateWithData(kCFAllocatorDefault, bytes as CFData) == nil)
        }
        for length in 0..<TestCertificate.der.count {
            #expect(SecCertificateCreateWithData(nil, TestCertificate.der.prefix(length) as CFData) == nil)
        }
    }

    @Test("K65") func properties_ofTheCertificate_areItsFields() throws {
        let certificate = try TestCertificate.object()
        #expect(SecCertificateCopySubjectSummary(certificate) as String? == "Leaf One")
        var name: CFString?
        #expect(SecCertificateCopyCommonName(certificate, &name) == errSecSuccess)
        #expect(name as String? == "Leaf One")
        var addresses: CFArray?
        #expect(SecCertificateCopyEmailAddresses(certificate, &addresses) == errSecSuccess)
        #expect(addresses as? [String] == ["a@leaf.example"])
        let number = attempt { SecCertificateCopySerialNumberData(certificate, $0) as Data? }
        #expect(number.value == Data([0x00, 0xA1, 0xB2]))
        let from = SecCertificateCopyNotValidBeforeDate(certificate)
        let to = SecCertificateCopyNotValidAfterDate(certificate)
        #expect(from as Date? == Date(timeIntervalSince1970: 1_704_067_200))
        #expect(to as Date? == Date(timeIntervalSince1970: 2_524_521_600))
        #expect("\(certificate)" == "<SecCertificate: Leaf One>")
    }

    @Test("K67") func names_normalized_areThoseOfTheFacts() throws {
        let certificate = try TestCertificate.object()
        let expected = Data([0x30, 0x35]) + TestCertificate.name
        #expect(SecCertificateCopyNormalizedSubjectSequence(certificate) as Data? == expected)
        #expect(SecCertificateCopyNormalizedIssuerSequence(certificate) as Data? == expected)
    }

    @Test("K68") func key_ofTheCertificate_isTheKeyThatItIsFor() throws {
        let certificate = try TestCertificate.object()
        #expect(SecCertificateCopyKey(certificate) == (try TestKey.p256.publicKey()))
        #expect(SecCertificateCopyPublicKey(certificate) == SecCertificateCopyKey(certificate))
    }

    @Test func valuesAndDescriptions_areUnimplemented() throws {
        let certificate = try TestIdentity.first.certificate()
        #expect(attempt { SecCertificateCopyValues(certificate, nil, $0) }.status == errSecUnimplemented)
        #expect(attempt { SecCertificateCopyLongDescription(nil, certificate, $0) }.status == errSecUnimplemented)
        #expect(attempt { SecCertificateCopyShortDescription(nil, certificate, $0) }.status == errSecUnimplemented)
    }

    @Test func typeNumber_ofACertificate_isItsOwn() throws {
        #expect(CFGetTypeID(try TestCertificate.object()) == SecCertificateGetTypeID())
        #expect(SecCertificateGetTypeID() != SecKeyGetTypeID())
        let list = [try TestCertificate.object()] as CFArray
        #expect((list as? [SecCertificate])?.count == 1 && list as? [SecKey] == nil)
    }

    @Test("K71", .enabled(if: OpenSSLProgram.path != nil, OpenSSLProgram.isMissing))
    func certificate_ofAnRSAKeyOf512Bits_isReadThoughItsKeyIsNot() throws {
        let openssl = try OpenSSLProgram()
        try openssl("req -x509 -new -nodes -newkey rsa:512 -keyout key.pem -subj /CN=Small -outform DER -out small.der")
        let certificate = try #require(SecCertificateCreateWithData(nil, openssl.read("small.der") as CFData))
        #expect(SecCertificateCopySubjectSummary(certificate) as String? == "Small")
        #expect(SecCertificateCopyKey(certificate) == nil)
    }

    @Test("K70, K71", .enabled(if: OpenSSLProgram.path != nil, OpenSSLProgram.isMissing))
    func certificate_ofTheProgram_isReadThoughItsKeyIsNot() throws {
        let openssl = try OpenSSLProgram()
        try openssl(
            "req -x509 -new -nodes -newkey ec -pkeyopt ec_paramgen_curve:secp256k1 -keyout key.pem -subj /O=Tools "
                + "-addext subjectAltName=email:a@leaf.example -outform DER -out certificate.der")
        let der = try openssl.read("certificate.der")
        let certificate = try #require(SecCertificateCreateWithData(nil, der as CFData))
        #expect(SecCertificateCopyKey(certificate) == nil)
        var name: CFString? = "left over"
        #expect(SecCertificateCopyCommonName(certificate, &name) == -26276)
        #expect(name == nil)
        #expect(SecCertificateCopySubjectSummary(certificate) as String? == "a@leaf.example")
    }
}
