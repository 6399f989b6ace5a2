// SPDX-License-Identifier: Apache-2.0
// Object identifiers whose numbers have any size, such as those that are made of a UUID (2.25).

import SwiftASN1

/// An object identifier of a certificate, which is only compared and shown. SwiftASN1 has none with a number of more than
/// 56 bits. A certificate with such a one is valid, and so is the list that has it.
package struct LongIdentifier: Sendable {
    /// `nil` if a number has more than 56 bits. No identifier that is known here has.
    let known: ASN1ObjectIdentifier?
    private let content: ArraySlice<UInt8>

    /// - Throws: `KeyFailure.malformed` also for a long number at the beginning, where no registered identifier has one.
    init(_ reader: inout DERReader<ArraySlice<UInt8>>) throws(KeyFailure) {
        var copy = reader
        do throws(KeyFailure) {
            known = try reader.objectIdentifier()
        } catch {
            known = nil
            reader = copy
        }
        content = try copy.content(DERTag.objectIdentifier)
        guard known == nil else { return }
        guard Self.isLong(content) else { throw .malformed(reader.format) }
        reader = copy
    }

    /// Whether the numbers are well formed: none begins with a zero digit, and the last one ends.
    private static func isLong(_ content: ArraySlice<UInt8>) -> Bool {
        guard let first = content.first, first < 0x80, let last = content.last, last < 0x80, content.count <= 64 else {
            return false
        }
        return !zip(content, content.dropFirst()).contains { $0 < 0x80 && $1 == 0x80 }
    }

    /// The numbers with dots between them.
    var text: String {
        if let known { return "\(known)" }
        guard let first = content.first else { return "" }
        // The first byte has two numbers.
        let root = min(first / 40, 2)
        let numbers = content.dropFirst().split(after: { $0 < 0x80 }).map(Self.decimal)
        return (["\(root)", "\(first - 40 * root)"] + numbers).joined(separator: ".")
    }

    /// The numbers of an object identifier in DER, with dots between them. For modules that read extensions themselves.
    package static func text(ofDER der: ArraySlice<UInt8>) throws(KeyFailure) -> String {
        var reader = DERReader(der, "extension of a certificate")
        let identifier = try LongIdentifier(&reader)
        try reader.finish()
        return identifier.text
    }

    private static func decimal(_ number: ArraySlice<UInt8>) -> String {
        // The last digit first.
        var digits = [0]
        for byte in number {
            var carry = Int(byte & 0x7F)
            for index in digits.indices {
                carry += digits[index] << 7
                (digits[index], carry) = (carry % 10, carry / 10)
            }
            while carry > 0 {
                digits.append(carry % 10)
                carry /= 10
            }
        }
        return digits.reversed().map(String.init).joined()
    }
}

extension ArraySlice<UInt8> {
    /// Parts, each of which ends with an element that fulfils the condition.
    fileprivate func split(after isLast: (UInt8) -> Bool) -> [ArraySlice<UInt8>] {
        var (parts, start): ([ArraySlice<UInt8>], Int) = ([], startIndex)
        for index in indices where isLast(self[index]) {
            parts.append(self[start...index])
            start = index + 1
        }
        return parts
    }
}
