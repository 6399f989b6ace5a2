// SPDX-License-Identifier: Apache-2.0
// Reads options as BSD's getopt does, which macOS's command uses.

/// Options come before words and may be clustered (`-gw`), a value may follow its letter at once (`-sNAME`), and `--`
/// ends the options. `--json` is an addition.
struct SecurityOptions {
    private var given: [(letter: Unicode.Scalar, value: String)] = []
    /// The words after the options.
    private(set) var words: [String] = []
    private(set) var isJSON = false
    /// The letter of the last option, if the value that it takes is missing.
    private(set) var lacksValue: Unicode.Scalar?

    /// - Parameters:
    ///   - letters: The options of the command; a colon follows those that take a value, and two those that take two.
    ///   - mayLackValue: Options whose value may be missing if they are the last word.
    /// - Throws: Wrong usage. The message never contains a value.
    init(_ arguments: [String], _ letters: String, mayLackValue: [Unicode.Scalar] = []) throws(SecurityFailure) {
        let valueCounts = Self.table(letters)
        var rest = arguments[...]
        while let word = rest.first, word.utf8.first == UInt8(ascii: "-"), word.utf8.count > 1 {
            rest.removeFirst()
            if word == "--" { break }
            if word == "--json" { isJSON = true } else { try read(word, &rest, valueCounts) }
        }
        words = Array(rest)
        guard let letter = lacksValue, !mayLackValue.contains(letter) else { return }
        throw .usage("security: option requires an argument -- \(letter)")
    }

    private mutating func read(
        _ word: String, _ rest: inout ArraySlice<String>, _ valueCounts: [Unicode.Scalar: Int]
    ) throws(SecurityFailure) {
        var scalars = word.unicodeScalars.dropFirst()
        while let letter = scalars.popFirst() {
            guard let count = valueCounts[letter] else {
                throw letter == "h" ? .usage() : .usage("security: illegal option -- \(String(letter).escaped)")
            }
            guard count > 0 else {
                given.append((letter, ""))
                continue
            }
            // The second value is always a word of its own, and no command here needs it.
            guard let value = scalars.isEmpty ? rest.popFirst() : String(scalars), count == 1 || rest.popFirst() != nil
            else { return lacksValue = letter }
            return given.append((letter, value))
        }
    }

    private static func table(_ letters: String) -> [Unicode.Scalar: Int] {
        var table: [Unicode.Scalar: Int] = [:]
        let scalars = Array(letters.unicodeScalars)
        for (index, letter) in scalars.enumerated() where letter != ":" {
            table[letter] = scalars[(index + 1)...].prefix { $0 == ":" }.count
        }
        return table
    }

    func has(_ letter: Unicode.Scalar) -> Bool { given.contains { $0.letter == letter } }

    /// The last value of an option, as with getopt.
    subscript(letter: Unicode.Scalar) -> String? { given.last { $0.letter == letter }?.value }

    /// Whether any of these is given.
    func hasAny(of letters: String) -> Bool { letters.unicodeScalars.contains { has($0) } }
}
