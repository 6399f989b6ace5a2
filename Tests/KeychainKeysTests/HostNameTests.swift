// SPDX-License-Identifier: Apache-2.0
// Which hosts a certificate is for.

import Foundation
import Testing

@testable import KeychainKeys

struct HostNameTests {
    @Test(arguments: [
        ("leaf.example", true), ("LEAF.example.", true), ("a.w.example", true), ("A.W.Example", true),
        ("192.0.2.7", true), ("w.example", false), ("a.b.w.example", false), ("leaf.example..", false), ("", false),
        (".", false), (".w.example", false), ("192.0.2.8", false), ("192.0.2.7.", false),
        ("xleaf.example", false), ("Leaf One", false), ("::1", false), ("leaf.exämple", false),
    ])
    func isFor_hostsOfTheKnownCertificate_isAsAppleSays(host: String, expected: Bool) throws {
        #expect(try Certificate(der: KnownCertificate.der).isFor(host: host) == expected)
    }

    private func certificate(dnsNames: [String]) throws -> Certificate {
        var builder = CertificateBuilder()
        builder.subject = .sequence(CertificateBuilder.attribute(.commonName, "host.example"))
        builder.setExtensions([CertificateBuilder.alternativeNames(dnsNames.map { (2, $0) })])
        return try Certificate(der: builder.der)
    }

    @Test func isFor_wildcardThatIsNoWholeLabel_isFalse() throws {
        let names = ["a*.w.example", "*a.w.example", "b.*.example", "*.example", "*", "**.w.example", "*.*.w.example"]
        let certificate = try certificate(dnsNames: names)
        for host in ["ab.w.example", "ba.w.example", "b.c.example", "x.example", "x", "a.w.example", "a.b.w.example"] {
            #expect(!certificate.isFor(host: host), "\(host)")
        }
    }

    @Test func isFor_commonNameOrAddressAsText_isFalse() throws {
        let certificate = try certificate(dnsNames: ["192.0.2.7", "2001:db8::1", ""])
        for host in ["host.example", "192.0.2.7", "2001:db8::1", ""] { #expect(!certificate.isFor(host: host)) }
    }

    @Test func isFor_addressOfSixteenBytes_isComparedByItsBytes() throws {
        var builder = CertificateBuilder()
        let address: [UInt8] = [0x20, 0x01, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [1]
        let names = DERNode.sequence(.element(DERTag.contextPrimitive(7), [.bytes(address)]))
        builder.setExtensions([CertificateBuilder.entry(.subjectAlternativeName, names)])
        let certificate = try Certificate(der: builder.der)
        #expect(certificate.isFor(host: "2001:db8::1") && certificate.isFor(host: "2001:DB8:0:0::0:1"))
        #expect(!certificate.isFor(host: "2001:db8::2") && !certificate.isFor(host: "[2001:db8::1]"))
    }
}
