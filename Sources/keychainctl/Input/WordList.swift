// SPDX-License-Identifier: Apache-2.0
// The words of generated passphrases.

import Foundation
import KeychainKit

/// Different words, so that the entropy of a phrase is exactly the number of its words times the logarithm of their number.
///
/// The tool has no list of its own: each list is somebody's work, and a system or its user has one already.
struct WordList {
    static let usual = "/usr/share/dict/words"
    /// A shorter list would need very long phrases; 10 bits for each word.
    static let fewest = 1024

    private static let largest = 16 << 20
    private static let longestWord = 64

    /// Different from each other.
    private let words: [[UInt8]]

    var count: Int { words.count }

    /// Reads a list with a word on each line.
    ///
    /// - Parameters:
    ///   - path: `nil`: the usual list. Of that one, only words of 3 to 9 small letters from a to z are used: it also has
    ///     names, forms with an apostrophe and words that not every keyboard can type.
    ///   - separator: Characters that are in no word, so that two different choices never give the same phrase.
    /// - Throws: `unavailable` if there is no list, `tooLarge`, and `invalidParameter` for a list that is too short or that is
    ///   not a list of words.
    init(_ path: String?, separator: String) throws(KeychainError) {
        let (bytes, name) = (try Self.content(path), path ?? Self.usual)
        let separators = Set(separator.unicodeScalars)
        var (known, words, rest, number): (Set<String>, [[UInt8]], Data, Int) = ([], [], bytes, 0)
        while !rest.isEmpty {
            let line = rest.prefix { $0 != UInt8(ascii: "\n") }
            (rest, number) = (rest[line.endIndex...].dropFirst(), number + 1)
            let found = path == nil ? Self.plainWord(line) : try Self.word(line, number, name)
            guard let word = found else { continue }
            guard separators.isDisjoint(with: word.unicodeScalars) else {
                throw KeychainError(
                    .invalidParameter,
                    "Line \(number) of '\(name)' contains a character of the separator. Choose another one with "
                        + "--separator.")
            }
            // Strings are equal if they are composed in different ways but look the same.
            if known.insert(word).inserted { words.append(Array(word.utf8)) }
        }
        guard words.count >= Self.fewest else {
            throw KeychainError(
                .invalidParameter,
                "'\(name)' has \(words.count) different words that can be used. At least \(Self.fewest) are needed.")
        }
        self.words = words
    }

    private static func content(_ path: String?) throws(KeychainError) -> Data {
        do throws(KeychainError) {
            return try InputFile.read(path ?? usual, limit: largest)
        } catch {
            guard path == nil, error.reason == .unavailable else { throw error }
            throw KeychainError(
                .unavailable,
                "There is no word list at '\(usual)'. Install one (on Debian: apt-get install wamerican), or give the file "
                    + "of another one with --word-list.")
        }
    }

    private static func plainWord(_ line: Data) -> String? {
        let isPlain = line.allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }
        return isPlain && (3...9).contains(line.count) ? String(decoding: line, as: UTF8.self) : nil
    }

    /// The word of a line; lists for dice have a number before it.
    ///
    /// - Returns: `nil` for an empty line.
    private static func word(_ line: Data, _ number: Int, _ name: String) throws(KeychainError) -> String? {
        guard let text = String(validating: line, as: UTF8.self) else {
            throw KeychainError(.invalidParameter, "Line \(number) of '\(name)' is not valid UTF-8.")
        }
        var parts = text.split { $0 == " " || $0 == "\t" || $0 == "\r" }[...]
        if parts.count == 2, let first = parts.first, first.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            parts = parts.dropFirst()
        }
        guard let word = parts.first else { return nil }
        guard parts.count == 1, word.utf8.count <= longestWord, word.unicodeScalars.allSatisfy(isVisible) else {
            throw KeychainError(
                .invalidParameter,
                "Line \(number) of '\(name)' is not one word of at most \(longestWord) bytes.")
        }
        return String(word)
    }

    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        let (properties, hidden) = (scalar.properties, [Unicode.GeneralCategory.control, .format, .unassigned])
        return !properties.isWhitespace && !hidden.contains(properties.generalCategory)
    }

    /// As UTF-8. Each word is chosen by the kernel's random generator, all with the same probability.
    func phrase(_ count: Int, separator: String) -> Data {
        var generator = SystemRandomNumberGenerator()
        // Allocated once: a growing buffer would leave copies behind.
        var result = Data(capacity: count * (Self.longestWord + separator.utf8.count))
        for index in 0..<count {
            if index > 0 { result.append(contentsOf: separator.utf8) }
            result.append(contentsOf: words[Int.random(in: 0..<words.count, using: &generator)])
        }
        return result
    }

    /// The bits with one decimal place, rounded down.
    func entropyText(_ count: Int) -> String {
        let tenths = Int(Double(count) * log2(Double(words.count)) * 10)
        return "\(tenths / 10).\(tenths % 10)"
    }
}
