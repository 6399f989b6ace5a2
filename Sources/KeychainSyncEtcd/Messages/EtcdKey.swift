// SPDX-License-Identifier: Apache-2.0
// The keys of objects in etcd.

import Foundation
import KeychainSync
import KeychainSyncCore

/// The key of an object: the ring, the object's name, the beginning of its hash, and its size. A second object of the same name has
/// another key, and a listing of keys tells the contents. Whether the value is what its key says is checked when it is read.
struct EtcdKey: Hashable {
    let name: ObjectName
    let content: ListedContent

    init(_ name: ObjectName, _ bytes: Data) { (self.name, content) = (name, ListedContent(bytes)) }

    /// The text below the ring, such as `l/0000000000000005/0000000000000009-5f3a9c01-000400`.
    var text: String { "\(name.text)-\(Self.hexadecimal(content.fingerprint, 8))-\(Self.hexadecimal(content.size, 6))" }

    /// - Returns: `nil` for a key that is no object's: anybody may have written it.
    init?(_ text: Substring.UTF8View) {
        let parts = text.suffix(16).split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard text.count > 16, parts.count == 3, parts[0].isEmpty, parts[1].count == 8,
            let name = ObjectName(String(Substring(text.dropLast(16)))),
            let fingerprint = UInt32(String(Substring(parts[1])), radix: 16),
            let size = Int(String(Substring(parts[2])), radix: 16), (1...Bounds.object).contains(size)
        else { return nil }
        (self.name, content) = (name, ListedContent(fingerprint: fingerprint, size: size))
        guard self.text.utf8.elementsEqual(text) else { return nil }
    }

    func isOf(_ bytes: Data) -> Bool { bytes.count == content.size && ListedContent(bytes) == content }

    private static func hexadecimal(_ number: some BinaryInteger, _ digits: Int) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }
}

/// The keys of one ring, or of all rings at a place.
struct EtcdKeys: Hashable {
    /// Ends with a slash.
    let root: String

    init(_ prefix: String) { root = prefix + "skc1/" }

    init(_ prefix: String, _ ring: RingID) { root = prefix + "skc1/" + ring.hex + "/" }

    /// All keys.
    var all: EtcdRange { range(below: "") }

    /// The keys whose text below the root begins with a kind, such as `l/`.
    func range(below kind: String) -> EtcdRange {
        // "0" follows "/".
        let text = root + kind
        return EtcdRange(text, text.dropLast() + "0")
    }

    /// The keys of all objects of a name.
    func range(of name: ObjectName) -> EtcdRange {
        // "." follows "-".
        EtcdRange(root + name.text + "-", root + name.text + ".")
    }

    func key(_ key: EtcdKey) -> Data { Data((root + key.text).utf8) }

    /// The key that is written with each segment of a writer, so that one comparison over a few keys tells whether anybody wrote.
    func tip(_ writer: WriterID) -> Data { Data((root + "t/" + writer.hex).utf8) }

    /// - Returns: `nil` for a key that is not below the root.
    func suffix(of key: Data) -> Substring? {
        guard key.count <= 1024, let text = String(validating: key, as: UTF8.self), text.hasPrefix(root) else {
            return nil
        }
        return text.dropFirst(root.count)
    }

    func object(_ key: Data) -> EtcdKey? { suffix(of: key).flatMap { EtcdKey($0.utf8) } }
}

/// The keys from one, to before another.
struct EtcdRange: Hashable {
    var first: Data
    let end: Data

    init(_ first: some StringProtocol, _ end: some StringProtocol) {
        (self.first, self.end) = (Data(first.utf8), Data(end.utf8))
    }
}
