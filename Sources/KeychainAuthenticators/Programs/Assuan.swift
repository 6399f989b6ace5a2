// SPDX-License-Identifier: Apache-2.0
// The Assuan protocol of pinentry: lines of at most 1000 bytes, in which special characters are percent-encoded.

import Foundation
import SecretMemory

enum Assuan {
    /// More than a server may send (1000 and the line end).
    static let longestLine = 2048
    /// More than pinentry lets the user enter.
    static let longestData = 8192
    private static let longestParameter = 900

    /// Encodes text as the parameter of a command, shortened if the line would be too long.
    ///
    /// - Parameter text: Without control characters, except intended line breaks.
    static func parameter(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            let word =
                switch scalar {
                case "%": "%25"
                case "\n": "%0A"
                case "\r": "%0D"
                default: String(scalar)
                }
            if result.utf8.count + word.utf8.count > longestParameter { return result + "…" }
            result += word
        }
        return result
    }

    /// The name of a button. pinentry interprets a single underscore as the mark of a shortcut.
    static func buttonName(_ text: String) -> String {
        parameter(
            text.escapingControls().split(separator: "_", omittingEmptySubsequences: false).joined(separator: "__"))
    }

    /// Adds decoded bytes to `data`.
    ///
    /// - Returns: `false` for a percent sign without two digits, or if there is no room.
    static func decode(_ line: SecretBuffer, _ range: Range<Int>, into data: SecretBuffer) -> Bool {
        var index = range.lowerBound
        while index < range.upperBound {
            var byte = line[index]
            index += 1
            if byte == UInt8(ascii: "%") {
                guard index + 2 <= range.upperBound, let high = digit(line[index]), let low = digit(line[index + 1])
                else { return false }
                byte = high << 4 | low
                index += 2
            }
            guard data.append(byte) else { return false }
        }
        return true
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}

/// The kind of a server's line, without the data.
enum AssuanLine: Equatable {
    case ok
    case error(Int)
    case data(Range<Int>)
    case status(String)
    case comment
    case garbage

    /// - Parameter line: Without its line end.
    init(_ line: SecretBuffer, length: Int) {
        let start = String(decoding: (0..<min(length, 4)).map { line[$0] }, as: UTF8.self)
        if start.hasPrefix("D ") {
            self = .data(2..<length)
        } else if start.hasPrefix("#") {
            self = .comment
        } else if start.hasPrefix("OK") || start.hasPrefix("ERR ") || start.hasPrefix("S ") {
            self.init(String(decoding: (0..<length).map { line[$0] }, as: UTF8.self))
        } else {
            self = .garbage
        }
    }

    private init(_ text: String) {
        let words = text.split(whereSeparator: \.isWhitespace).prefix(2).map(String.init)
        switch (words.first, words.dropFirst().first) {
        case ("OK", _): self = .ok
        case ("ERR", let number?): self = Int(number).map { .error($0) } ?? .garbage
        case ("S", let keyword?): self = .status(keyword)
        default: self = .garbage
        }
    }
}
