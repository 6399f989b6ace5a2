// SPDX-License-Identifier: Apache-2.0
// Whether a certificate is for a host, as strictly as Apple sees it.

import Foundation

extension Certificate {
    /// Whether the certificate names this host: one of its DNS names beside the subject, or for the text of an IP address
    /// one of its addresses. Common names do not count.
    ///
    /// A wildcard stands for one whole label, the left-most one of at least three. Whether the others are a public suffix
    /// is not known here.
    public func isFor(host: String) -> Bool {
        if let address = Self.address(host) {
            return known.alternativeNames.addresses.contains { $0.elementsEqual(address) }
        }
        guard let asked = Self.labels(host.hasSuffix(".") ? String(host.dropLast()) : host) else { return false }
        return dnsNames.contains { name in Self.labels(name).map { Self.matches($0, asked) } ?? false }
    }

    private static func matches(_ pattern: [String], _ asked: [String]) -> Bool {
        guard pattern.count == asked.count else { return false }
        guard pattern[0] == "*", pattern.count >= 3 else { return pattern == asked }
        return pattern.dropFirst() == asked.dropFirst()
    }

    /// The labels in lower case; `nil` if one is empty or the name is not ASCII.
    private static func labels(_ name: String) -> [String]? {
        let labels = name.lowercased().split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        return name.utf8.allSatisfy { $0 < 0x80 } && !labels.contains("") ? labels : nil
    }

    /// The bytes of the text of an IPv4 or IPv6 address.
    private static func address(_ text: String) -> [UInt8]? {
        for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
            var bytes = [UInt8](repeating: 0, count: count)
            if inet_pton(family, text, &bytes) == 1 { return bytes }
        }
        return nil
    }
}
