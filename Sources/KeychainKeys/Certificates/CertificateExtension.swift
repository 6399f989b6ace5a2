// SPDX-License-Identifier: Apache-2.0
// The extensions of a certificate, and the extensions that are known here.

public import Foundation
import SwiftASN1

/// One extension of a certificate.
public struct CertificateExtension: Sendable {
    let name: LongIdentifier
    let content: ArraySlice<UInt8>
    public let isCritical: Bool

    /// The object identifier, in numbers with dots.
    public var identifier: String { name.text }
    public var value: Data { Data(content) }

    /// No real certificate has more.
    private static let limit = 20_000

    /// Reads the list at the end of the fields of a certificate, if there is one.
    static func all(_ fields: inout DERReader<ArraySlice<UInt8>>) throws(KeyFailure) -> [CertificateExtension] {
        guard fields.nextTag == DERTag.context(3) else { return [] }
        var outer = try fields.within(DERTag.context(3))
        var list = try outer.within(DERTag.sequence)
        try outer.finish()
        var extensions: [CertificateExtension] = []
        while !list.isAtEnd {
            guard extensions.count < limit else { throw .limitExceeded("extensions of a certificate") }
            extensions.append(try CertificateExtension(&list))
        }
        guard !extensions.isEmpty else { throw .malformed(fields.format) }
        return extensions
    }

    private init(_ list: inout DERReader<ArraySlice<UInt8>>) throws(KeyFailure) {
        var fields = try list.within(DERTag.sequence)
        name = try LongIdentifier(&fields)
        isCritical = try fields.boolean(default: false)
        content = try fields.content(DERTag.octetString)
        try fields.finish()
    }
}

extension DERReader {
    /// A BOOLEAN that may be left out.
    mutating func boolean(default absent: Bool) throws(KeyFailure) -> Bool {
        guard let content = try contentIfPresent(DERTag.boolean) else { return absent }
        guard content.count == 1, let byte = content.first, byte == 0 || byte == 0xFF else { throw .malformed(format) }
        return byte == 0xFF
    }
}

/// The known extensions. If one cannot be read, the certificate is malformed if the extension is critical; otherwise
/// the extension counts as missing, except for purposes: there are none then, as a missing extension would allow all. If
/// there are several of a kind, the last one counts.
struct KnownExtensions: Sendable {
    private(set) var subjectKeyIdentifier: ArraySlice<UInt8>?
    private(set) var authorityKeyIdentifier: ArraySlice<UInt8>?
    private(set) var alternativeNames = AlternativeNames()
    private(set) var isAuthority = false
    private(set) var keyUsage: UInt16?
    private(set) var extendedKeyUsages: [LongIdentifier]?

    init(_ extensions: [CertificateExtension]) throws(KeyFailure) {
        for entry in extensions {
            // If an extension is damaged in the middle, none of it is kept.
            var known = self
            do {
                try known.read(entry)
                self = known
            } catch {
                if entry.isCritical { throw error }
                if entry.name.known == .extendedKeyUsage { extendedKeyUsages = [] }
            }
        }
    }

    private mutating func read(_ entry: CertificateExtension) throws(KeyFailure) {
        var reader = DERReader(entry.content, "extension of a certificate")
        switch entry.name.known {
        case .subjectKeyIdentifier:
            subjectKeyIdentifier = try reader.content(DERTag.octetString)
        case .authorityKeyIdentifier:
            var fields = try reader.within(DERTag.sequence)
            authorityKeyIdentifier = try fields.contentIfPresent(DERTag.contextPrimitive(0))
        case .subjectAlternativeName:
            var names = try reader.within(DERTag.sequence)
            alternativeNames = try AlternativeNames(&names)
        case .basicConstraints:
            var fields = try reader.within(DERTag.sequence)
            isAuthority = try fields.boolean(default: false)
            if !fields.isAtEnd { _ = try fields.smallInteger() }
            try fields.finish()
        case .keyUsage: keyUsage = try Self.keyUsage(reader.content(DERTag.bitString))
        case .extendedKeyUsage:
            var list = try reader.within(DERTag.sequence)
            var usages: [LongIdentifier] = []
            while !list.isAtEnd { usages.append(try LongIdentifier(&list)) }
            extendedKeyUsages = usages
        default: return
        }
        try reader.finish()
    }

    /// The nine bits, the first one highest.
    private static func keyUsage(_ content: ArraySlice<UInt8>) throws(KeyFailure) -> UInt16 {
        guard (1...3).contains(content.count), content[content.startIndex] < 8 else {
            throw .malformed("extension of a certificate")
        }
        let bits = content.dropFirst().map(UInt16.init) + [0, 0]
        return bits[0] << 8 | bits[1]
    }
}

/// The alternative names of a subject.
struct AlternativeNames: Sendable {
    private(set) var emailAddresses: [ArraySlice<UInt8>] = []
    private(set) var dnsNames: [ArraySlice<UInt8>] = []
    private(set) var addresses: [ArraySlice<UInt8>] = []

    init() {}

    init(_ names: inout DERReader<ArraySlice<UInt8>>) throws(KeyFailure) {
        while !names.isAtEnd {
            let name = try names.next()
            switch name.tag {
            case DERTag.contextPrimitive(1): emailAddresses.append(name.content)
            case DERTag.contextPrimitive(2): dnsNames.append(name.content)
            case DERTag.contextPrimitive(7): addresses.append(name.content)
            // Other names are ignored.
            default: continue
            }
        }
    }
}
