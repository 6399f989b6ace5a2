// SPDX-License-Identifier: Apache-2.0
// The address of a registry, as docker gives it, and the name of its item.

import KeychainKit

struct DockerServer {
    /// The security domain of docker's items. It tells them from passwords of other programs for the same server.
    static let mark = "docker"

    /// As docker gave it: docker compares it as text.
    let url: String

    /// - Throws: `invalidParameter` for text that docker would not give.
    init(_ url: String) throws(KeychainError) {
        guard !url.isEmpty else { throw KeychainError(.invalidParameter, "no credentials server URL") }
        guard !url.unicodeScalars.contains(where: { $0.isASCII && $0.properties.generalCategory == .control }) else {
            throw KeychainError(.invalidParameter, "the server URL contains a control character")
        }
        self.url = url
    }

    /// The parts of the usual forms of an address, with the host in lower case; of any other form the whole address is the
    /// server. Addresses that differ in more than the case of the host have different names, so that no item replaces that
    /// of another address.
    var name: SecretStore.Server {
        var name = givenName
        if name.host.utf8.allSatisfy(Self.isOfHost) { name.host = name.host.lowercased() }
        return name
    }

    /// The servers under which an item may be stored.
    var hosts: [String] {
        let host = givenName.host
        return host.utf8.allSatisfy(Self.isOfHost) ? host.hostSpellings : [host]
    }

    /// Whether an address differs from this one at most in the case of the host.
    func isSame(as address: String) -> Bool {
        guard let other = try? DockerServer(address) else { return false }
        return name.text.utf8.elementsEqual(other.name.text.utf8)
    }

    private var givenName: SecretStore.Server {
        let schemes = [("https://", InternetProtocol.https), ("http://", .http)]
        let scheme = schemes.first { url.hasPrefix($0.0) }
        let rest = url.dropFirst(scheme?.0.count ?? 0)
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        let parts = rest[..<slash].split(separator: ":", omittingEmptySubsequences: false)
        let port = parts.count == 2 ? Self.port(parts[1]) : nil
        guard let host = parts.first, !host.isEmpty, host.utf8.allSatisfy(Self.isOfHost),
            parts.count == 1 || port != nil
        else { return SecretStore.Server(url, securityDomain: Self.mark) }
        return SecretStore.Server(
            String(host), protocol: scheme?.1, port: port, path: slash < rest.endIndex ? String(rest[slash...]) : nil,
            securityDomain: Self.mark)
    }

    private static func isOfHost(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"): true
        default: false
        }
    }

    /// - Returns: `nil` also for a number that would be written otherwise.
    private static func port(_ text: Substring) -> Int? {
        UInt16(text).flatMap { $0 > 0 && String($0) == text ? Int($0) : nil }
    }
}
