// SPDX-License-Identifier: Apache-2.0
// Certificates with any fields, also such as no program writes. They are not signed.

import Foundation
import SwiftASN1

@testable import KeychainKeys

struct CertificateBuilder {
    var version: DERNode? = .context(0, .integer(2))
    var serialNumber: [UInt8] = [1]
    var issuer: DERNode = .sequence()
    var notBefore: DERNode = time("240101000000Z")
    var notAfter: DERNode = time("491231000000Z")
    var subject: DERNode = .sequence()
    var key: DERNode = .sequence(.algorithm([1, 2, 3]), .bits([1, 2, 3]))
    /// The element with the list, or nothing.
    var extensions: DERNode?

    static func time(_ text: String, tag: UInt8 = 0x17) -> DERNode { .element(tag, [.bytes(Array(text.utf8))]) }

    static func attribute(_ type: ASN1ObjectIdentifier, _ tag: UInt8, _ value: [UInt8]) -> DERNode {
        .set(.sequence(.oid(type), .element(tag, [.bytes(value)])))
    }

    static func attribute(_ type: ASN1ObjectIdentifier, _ text: String, _ tag: UInt8 = StringTag.utf8) -> DERNode {
        attribute(type, tag, Array(text.utf8))
    }

    static func entry(_ name: ASN1ObjectIdentifier, isCritical: Bool = false, _ value: DERNode) -> DERNode {
        let critical: [DERNode] = isCritical ? [.element(DERTag.boolean, [.bytes([0xFF])])] : []
        return .element(DERTag.sequence, [.oid(name)] + critical + [.octets(value)])
    }

    mutating func setExtensions(_ entries: [DERNode]) { extensions = .context(3, .element(DERTag.sequence, entries)) }

    /// Names beside the subject's: with the tags 1 for e-mail addresses and 2 for hosts.
    static func alternativeNames(_ names: [(UInt8, String)]) -> DERNode {
        entry(
            .subjectAlternativeName,
            .element(
                DERTag.sequence, names.map { .element(DERTag.contextPrimitive($0.0), [.bytes(Array($0.1.utf8))]) }))
    }

    /// A certificate of more than 1 MiB.
    static var tooLarge: Data {
        var builder = CertificateBuilder()
        builder.setExtensions([entry([1, 2, 3], .bytes([UInt8](repeating: 0, count: 1 << 20)))])
        return builder.der
    }

    var der: Data {
        let signature = DERNode.algorithm([1, 2, 840, 10_045, 4, 3, 2])
        let fields: [DERNode?] = [
            version, .element(DERTag.integer, [.bytes(serialNumber)]), signature, issuer,
            .sequence(notBefore, notAfter),
            subject, key, extensions,
        ]
        return Data(
            DERNode.sequence(.element(DERTag.sequence, fields.compactMap(\.self)), signature, .bits([0])).encoded)
    }
}

/// The certificate of the facts: self-signed with `KnownKey.p256`.
enum KnownCertificate {
    static let der = Data(
        base64: """
            MIIB0jCCAXegAwIBAgIDAKGyMAoGCCqGSM49BAMCMDcxCzAJBgNVBAYTAkRFMRUwEwYDVQQKEwwgYWNtZSAgVG9vbHMxETAPBgNVBAMTCExl\
            YWYgT25lMB4XDTI0MDEwMTAwMDAwMFoXDTQ5MTIzMTAwMDAwMFowNzELMAkGA1UEBhMCREUxFTATBgNVBAoTDCBhY21lICBUb29sczERMA8G\
            A1UEAxMITGVhZiBPbmUwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATsnL50Y0q8qFieFiHhhcFCrvvyTIq3LinweAwwquDkZF68XyLbfcWM\
            J4iktlbFNCfh4FJkdBLVAnlFeg6YcEkro3IwcDAdBgNVHQ4EFgQUowtOoCfB2lRIsURC502F2cWzi24wOgYDVR0RBDMwMYIMbGVhZi5leGFt\
            cGxlggsqLncuZXhhbXBsZYcEwAACB4EOYUBsZWFmLmV4YW1wbGUwEwYDVR0lBAwwCgYIKwYBBQUHAwIwCgYIKoZIzj0EAwIDSQAwRgIhAOVi\
            wAX8Dsjbf4PVOLwBMvt6qKo2BaqdLkG01DG1fNO+AiEA8ROOPT0+ObxlALAuM3d6qWEPclVDDPGyT3dp80GzNC4=
            """)
}
