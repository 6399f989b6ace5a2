// SPDX-License-Identifier: Apache-2.0
// A file of variables: NAME=value lines, whose values may be references.

import Foundation
import KeychainKit

/// Empty lines and lines that begin with `#` are ignored, and so is the word `export` before a name. A value may be in
/// quotes, which are removed. Nothing else has a meaning: no escapes, no other variables.
struct EnvironmentFile {
    private static let limit = 1 << 20

    let variables: [(name: String, value: [UInt8])]

    /// - Throws: `invalidParameter` with the number of the line, and never with its content.
    init(path: String) throws(KeychainError) {
        var bytes = try InputFile.read(path, limit: Self.limit)
        defer { bytes.wipe() }
        var (variables, number) = ([(name: String, value: [UInt8])](), 0)
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            number += 1
            let words = Self.trimmed(Array(line)[...])
            guard let first = words.first, first != UInt8(ascii: "#") else { continue }
            guard let variable = Self.variable(words) else { throw Self.malformed(path, number) }
            variables.append(variable)
        }
        self.variables = variables
    }

    private static func variable(_ line: ArraySlice<UInt8>) -> (name: String, value: [UInt8])? {
        let export = Array("export ".utf8)
        let line = line.starts(with: export) ? trimmed(line.dropFirst(export.count)) : line
        guard let equals = line.firstIndex(of: UInt8(ascii: "=")), !line.contains(0) else { return nil }
        guard let name = VariableName.checked(trimmed(line[..<equals])) else { return nil }
        return (name, Array(unquoted(trimmed(line[(equals + 1)...]))))
    }

    private static func unquoted(_ value: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard let quote = value.first, [UInt8(ascii: "'"), UInt8(ascii: "\"")].contains(quote) else { return value }
        return value.count > 1 && value.last == quote ? value.dropFirst().dropLast() : value
    }

    /// Without white space at both ends, among it the end of a line from Windows.
    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0D }
        var rest = bytes.drop(while: isSpace)
        while let last = rest.last, isSpace(last) { rest.removeLast() }
        return rest
    }

    private static func malformed(_ path: String, _ number: Int) -> KeychainError {
        KeychainError(
            .invalidParameter, "Line \(number) of '\(path)' is not of the form NAME=value. Nothing was started.")
    }
}

/// Names of variables as POSIX defines them.
enum VariableName {
    static func checked(_ bytes: some Collection<UInt8>) -> String? {
        let isLetter = { (byte: UInt8) in
            byte == UInt8(ascii: "_") || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte & 0xDF)
        }
        guard let first = bytes.first, isLetter(first) else { return nil }
        let isName = bytes.allSatisfy { isLetter($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return isName ? String(decoding: bytes, as: UTF8.self) : nil
    }
}
