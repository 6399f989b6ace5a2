// SPDX-License-Identifier: Apache-2.0
// Names of a certificate for people: its summary, common name and e-mail addresses.

public import Foundation
import SwiftASN1

extension Certificate {
    /// The last common name of the subject.
    public var commonName: String? {
        attributes.last { $0.type == .commonName && $0.text != nil }?.text
    }

    /// The addresses in the alternative names, then those in the subject. If one is not ASCII, the list is empty.
    public var emailAddresses: [String] {
        let inName = attributes.filter { $0.type == .emailAddress }.map(\.value.content)
        let texts = (known.alternativeNames.emailAddresses + inName).map { StringTag.ascii($0) }
        return texts.contains(nil) ? [] : texts.compactMap(\.self).filter { !$0.isEmpty }
    }

    /// The host names in the alternative names.
    public var dnsNames: [String] {
        known.alternativeNames.dnsNames.compactMap { StringTag.ascii($0) }.filter { !$0.isEmpty }
    }

    /// One line for people, as Apple builds it; `nil` for a certificate without any name.
    public var subjectSummary: String? {
        var summary = SubjectSummary()
        for attribute in attributes { summary.add(attribute) }
        if let name = summary.commonName { return name }
        return emailAddresses.first ?? dnsNames.first ?? summary.text
    }

    /// One line for people with the name of the issuer; `nil` for a certificate that names none.
    public var issuerSummary: String? {
        var summary = SubjectSummary()
        for attribute in (try? DistinguishedName(issuer))?.attributes ?? [] { summary.add(attribute) }
        return summary.commonName ?? summary.text
    }

    /// Empty if the name is damaged.
    private var attributes: [DistinguishedName.Attribute] { (try? DistinguishedName(subject))?.attributes ?? [] }
}

/// The texts of the attributes with the highest rank, the last one first.
private struct SubjectSummary {
    private var rank = 0
    private var texts: [String] = []
    private var descriptions: [String] = []

    mutating func add(_ attribute: DistinguishedName.Attribute) {
        guard let text = attribute.text else { return }
        if attribute.type == .descriptionAttribute { descriptions.append(text) }
        let newRank = Self.rank(attribute.type)
        guard newRank >= rank else { return }
        if newRank > rank { texts = [] }
        texts.append(text)
        rank = newRank
    }

    var text: String? { Self.joined(texts) }

    /// The common name, with the description in parentheses.
    var commonName: String? {
        guard rank == Self.rank(.commonName), let text else { return nil }
        return Self.joined(descriptions).map { "\(text) (\($0))" } ?? text
    }

    private static func rank(_ type: ASN1ObjectIdentifier?) -> Int {
        switch type {
        case .commonName: 4
        case .organizationalUnit: 3
        case .organization: 2
        default: 1
        }
    }

    private static func joined(_ texts: [String]) -> String? {
        texts.isEmpty ? nil : texts.reversed().joined(separator: ", ")
    }
}

extension Certificate {
    /// Whether the certificate states that it may issue certificates.
    public var isAuthority: Bool { known.isAuthority }

    /// The bits of the key usage, the first one (digital signature) highest; `nil` without the extension.
    public var keyUsage: UInt16? { known.keyUsage }

    /// Object identifiers of the purposes of the key; `nil` without the extension, none if it is damaged.
    public var extendedKeyUsages: [String]? { known.extendedKeyUsages?.map(\.text) }

    /// Whether names and key identifiers say that the other certificate issued this one. Its signature is not verified.
    public func namesIssuer(_ other: Certificate) -> Bool {
        guard let name = normalizedIssuerContent, !name.isEmpty, name == other.normalizedSubjectContent else {
            return false
        }
        guard let own = known.authorityKeyIdentifier, let others = other.known.subjectKeyIdentifier else { return true }
        return own == others
    }

    /// This certificate and its issuers among others, up to one that is its own issuer or whose issuer is missing; at
    /// most 64. Of several certificates that may be the issuer, such as one and its renewal, it is one that is valid, and
    /// of these the one that is valid longest.
    ///
    /// - Parameter date: When the issuers should be valid.
    public func chain(from others: [Certificate], at date: Date = Date()) -> [Certificate] {
        var chain = [self]
        while chain.count < 64, let last = chain.last, !last.namesIssuer(last),
            let issuer = last.issuer(among: others, notIn: chain, at: date)
        {
            chain.append(issuer)
        }
        return chain
    }

    /// If none is valid, the one that was valid last.
    private func issuer(among others: [Certificate], notIn chain: [Certificate], at date: Date) -> Certificate? {
        others.filter { namesIssuer($0) && !chain.contains($0) }.max { first, second in
            let (isFirstValid, isSecondValid) = (first.isValid(at: date), second.isValid(at: date))
            return isFirstValid == isSecondValid ? first.notAfter < second.notAfter : isSecondValid
        }
    }

    /// `false` for a date that is not a number.
    private func isValid(at date: Date) -> Bool { notBefore <= date && date <= notAfter }
}
