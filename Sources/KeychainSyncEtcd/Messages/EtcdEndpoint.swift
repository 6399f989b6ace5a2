// SPDX-License-Identifier: Apache-2.0
// The address of one node of an etcd.

package import KeychainSync

/// The address of one node: scheme, host and port, and nothing else. An address with a user, a path or a query is refused, because
/// it is shown.
package struct EtcdEndpoint: Hashable, Sendable {
    package let isSecure: Bool
    /// In brackets if it is an IPv6 address.
    package let host: String
    package let port: Int

    /// `https://etcd1.example.com:2379`
    package var text: String { "\(isSecure ? "https" : "http")://\(host):\(port)" }

    package init(_ text: String) throws(CarrierFailure) {
        let schemes = [("https://", true), ("http://", false)]
        guard text.utf8.count <= 300, let scheme = schemes.first(where: { text.hasPrefix($0.0) }) else {
            throw .noAddress
        }
        var rest = Array(text.utf8.dropFirst(scheme.0.utf8.count))
        if rest.last == UInt8(ascii: "/") { rest.removeLast() }
        let end = Self.endOfHost(rest)
        guard end > 0, let port = Self.port(rest[end...]) else { throw .noAddress }
        (isSecure, host, self.port) = (scheme.1, String(decoding: rest[..<end], as: UTF8.self), port)
    }

    /// - Returns: 0 if there is no host.
    private static func endOfHost(_ text: [UInt8]) -> Int {
        if text.first == UInt8(ascii: "["), let end = text.firstIndex(of: UInt8(ascii: "]")) {
            return end > 2 && text[1..<end].allSatisfy { isHexadecimal($0) || $0 == UInt8(ascii: ":") } ? end + 1 : 0
        }
        return text.firstIndex { !isOfName($0) } ?? text.count
    }

    private static func port(_ text: ArraySlice<UInt8>) -> Int? {
        if text.isEmpty { return 2379 }
        guard text.first == UInt8(ascii: ":"), text.dropFirst().allSatisfy(isDigit),
            let port = Int(String(decoding: text.dropFirst(), as: UTF8.self))
        else { return nil }
        return (1...65_535).contains(port) ? port : nil
    }

    /// Whether it is this machine, so that nobody else hears what is sent.
    package var isLoopback: Bool {
        if host == "localhost" || host == "[::1]" { return true }
        let numbers = host.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return numbers.count == 4 && numbers[0].elementsEqual("127".utf8)
            && numbers.allSatisfy { (1...3).contains($0.count) && $0.allSatisfy(Self.isDigit) }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte == UInt8(ascii: ".")
            || byte == UInt8(ascii: "-")
    }
}

extension CarrierFailure {
    fileprivate static let noAddress = CarrierFailure(
        .unusable, "An address of etcd has the form https://HOST:PORT. Several are separated by commas.")
}
