// SPDX-License-Identifier: Apache-2.0
// The members of a JSON object as text, so that one of them can be changed and all others stay byte for byte.

import Foundation

/// The bytes of a file whose JSON was checked before. Any surprise makes it `nil`.
struct JSONMembers {
    struct Member {
        let key: String
        /// From the quotation mark of the key to the end of the value.
        let range: Range<Int>
        let value: Range<Int>
    }

    let bytes: [UInt8]
    let members: [Member]
    /// Behind the brace that opens the object.
    private let start: Int
    /// The brace that closes it.
    private let end: Int

    init?(_ bytes: [UInt8]) {
        var scanner = JSONScanner(bytes: bytes)
        guard scanner.take("{") else { return nil }
        start = scanner.index
        var members: [Member] = []
        var end = scanner.take("}") ? scanner.index - 1 : nil
        while end == nil {
            guard let member = scanner.member() else { return nil }
            members.append(member)
            if scanner.take("}") { end = scanner.index - 1 } else if !scanner.take(",") { return nil }
        }
        guard let end, scanner.isAtEnd else { return nil }
        (self.bytes, self.members, self.end) = (bytes, members, end)
    }

    /// The only member of a name; `nil` also if there are several, because programs differ in which one counts.
    func only(_ key: String) -> Member? {
        let found = members.filter { $0.key == key }
        return found.count == 1 ? found[0] : nil
    }

    /// - Parameter text: A member, at the end of the others.
    func adding(_ text: String) -> [UInt8] {
        guard let last = members.last else { return replacing(start..<end, by: "\n\t\(text)\n") }
        return replacing(last.range.upperBound..<last.range.upperBound, by: ",\n\t\(text)")
    }

    /// The comma before the member goes with it; if it is the first, the comma behind it.
    func removing(_ member: Member) -> [UInt8] {
        guard let index = members.firstIndex(where: { $0.range == member.range }) else { return bytes }
        if index > 0 { return replacing(members[index - 1].range.upperBound..<member.range.upperBound, by: "") }
        if members.count > 1 { return replacing(member.range.lowerBound..<members[1].range.lowerBound, by: "") }
        return replacing(start..<end, by: "")
    }

    private func replacing(_ range: Range<Int>, by text: String) -> [UInt8] {
        Array(bytes[..<range.lowerBound]) + Array(text.utf8) + Array(bytes[range.upperBound...])
    }
}

private struct JSONScanner {
    let bytes: [UInt8]
    private(set) var index = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool {
        mutating get {
            skipSpace()
            return index == bytes.count
        }
    }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        skipSpace()
        guard index < bytes.count, bytes[index] == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    mutating func member() -> JSONMembers.Member? {
        skipSpace()
        let start = index
        guard skipString() else { return nil }
        let key = bytes[start..<index]
        guard take(":") else { return nil }
        skipSpace()
        let value = index
        guard skipValue(), let name = try? JSONDecoder().decode(String.self, from: Data(key)) else { return nil }
        return JSONMembers.Member(key: name, range: start..<index, value: value..<index)
    }

    private mutating func skipSpace() {
        while index < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[index]) { index += 1 }
    }

    private mutating func skipString() -> Bool {
        guard index < bytes.count, bytes[index] == UInt8(ascii: "\"") else { return false }
        index += 1
        while index < bytes.count {
            defer { index += 1 }
            if bytes[index] == UInt8(ascii: "\"") { return true }
            if bytes[index] == UInt8(ascii: "\\") { index += 1 }
        }
        return false
    }

    /// Brackets are counted, since what is between them was checked before.
    private mutating func skipValue() -> Bool {
        let start = index
        var depth = 0
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\""): guard skipString() else { return false }
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                index += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { return index > start }
                depth -= 1
                index += 1
            case UInt8(ascii: ","), 0x20, 0x09, 0x0A, 0x0D:
                if depth == 0 { return index > start }
                index += 1
            default: index += 1
            }
        }
        return false
    }
}
