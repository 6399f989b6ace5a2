// SPDX-License-Identifier: Apache-2.0
// A text with references, for `inject`.

import Foundation
import KeychainKit

/// A reference is written as `{{ keychain://… }}`, or without braces. Without braces it ends at white space, a quote or
/// another character that a name must encode there. All other bytes stay as they are, also other text in braces.
struct Template {
    private enum Piece {
        case bytes(Range<Int>)
        case reference(SecretReference, line: Int)
    }

    private let bytes: [UInt8]
    private let pieces: [Piece]

    /// - Throws: `invalidParameter` with the number of a line.
    init(_ text: Data) throws(KeychainError) {
        bytes = Array(text)
        var (pieces, start, index, line) = ([Piece](), 0, 0, 1)
        while index < bytes.count {
            guard let found = Self.reference(in: bytes, at: index) else {
                if bytes[index] == UInt8(ascii: "\n") { line += 1 }
                index += 1
                continue
            }
            pieces.append(.bytes(start..<index))
            pieces.append(.reference(try Self.parsed(found, bytes, line), line: line))
            (start, index) = (found.end, found.end)
        }
        pieces.append(.bytes(start..<bytes.count))
        self.pieces = pieces
    }

    /// The text with values. Values are inserted as they are.
    func filled(_ values: inout ReferencedValues) throws(KeychainError) -> Data {
        var parts: [Data] = []
        for piece in pieces {
            switch piece {
            case .bytes(let range): parts.append(Data(bytes[range]))
            case .reference(let reference, let line): parts.append(try values.value(of: reference, in: "Line \(line)"))
            }
        }
        // One buffer of the right size: a growing one would leave copies behind.
        var result = Data(capacity: parts.reduce(0) { $0 + $1.count })
        for part in parts { result.append(part) }
        return result
    }

    // MARK: - References

    private struct Found {
        /// `nil`: the closing braces are missing.
        let name: Range<Int>?
        let end: Int
    }

    private static func reference(in bytes: [UInt8], at index: Int) -> Found? {
        switch bytes[index] {
        case UInt8(ascii: "{"): inBraces(bytes, index)
        case UInt8(ascii: "k"): bare(bytes, index)
        default: nil
        }
    }

    private static func inBraces(_ bytes: [UInt8], _ index: Int) -> Found? {
        guard bytes[index...].starts(with: [UInt8(ascii: "{"), UInt8(ascii: "{")]) else { return nil }
        let start = bytes[(index + 2)...].firstIndex { !isBlank($0) } ?? bytes.endIndex
        guard SecretReference.begins(bytes[start...]) else { return nil }
        let lineEnd = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.endIndex
        let brace = UInt8(ascii: "}")
        guard
            let close = (start..<lineEnd).first(where: {
                bytes[$0] == brace && $0 + 1 < lineEnd && bytes[$0 + 1] == brace
            })
        else { return Found(name: nil, end: lineEnd) }
        var end = close
        while end > start, isBlank(bytes[end - 1]) { end -= 1 }
        return Found(name: start..<end, end: close + 2)
    }

    /// The word before must have ended, as in `https+keychain://…`.
    private static func bare(_ bytes: [UInt8], _ index: Int) -> Found? {
        guard index == 0 || !isPartOfScheme(bytes[index - 1]), SecretReference.begins(bytes[index...]) else {
            return nil
        }
        let end = bytes[index...].firstIndex(where: endsBareReference) ?? bytes.endIndex
        return Found(name: index..<end, end: end)
    }

    private static func parsed(_ found: Found, _ bytes: [UInt8], _ line: Int) throws(KeychainError) -> SecretReference {
        guard let name = found.name else {
            throw KeychainError(
                .invalidParameter, "Line \(line): a reference begins with '{{', and '}}' is missing in that line.")
        }
        do throws(KeychainError) {
            return try SecretReference(bytes[name])
        } catch {
            throw error.found(in: "Line \(line)")
        }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static func isPartOfScheme(_ byte: UInt8) -> Bool {
        VariableName.checked([UInt8(ascii: "_"), byte]) != nil || Array("+-.".utf8).contains(byte)
    }

    private static func endsBareReference(_ byte: UInt8) -> Bool {
        byte <= 0x20 || byte == 0x7F || endings.contains(byte)
    }

    private static let endings = Array("\"'`<>(){}[],;|\\".utf8)
}
