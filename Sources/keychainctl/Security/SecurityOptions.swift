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
    ///   - letters: The options of the command; a colon follows those that take a value.
    ///   - mayLackValue: Options whose value may be missing if they are the last word.
    /// - Throws: Wrong usage. The message never contains a value.
    init(_ arguments: [String], _ letters: String, mayLackValue: [Unicode.Scalar] = []) throws(SecurityFailure) {
        let takesValue = Self.table(letters)
        var rest = arguments[...]
        while let word = rest.first, word.utf8.first == UInt8(ascii: "-"), word.utf8.count > 1 {
            rest.removeFirst()
            if word == "--" { break }
            if word == "--json" { isJSON = true } else { try read(word, &rest, takesValue) }
        }
        words = Array(rest)
        guard let letter = lacksValue, !mayLackValue.contains(letter) else { return }
        throw .usage("security: option requires an argument -- \(letter)")
    }

    private mutating func read(
        _ word: String, _ rest: inout ArraySlice<String>, _ takesValue: [Unicode.Scalar: Bool]
    ) throws(SecurityFailure) {
        var scalars = word.unicodeScalars.dropFirst()
        while let letter = scalars.popFirst() {
            guard let takesOne = takesValue[letter] else {
                throw letter == "h" ? .usage() : .usage("security: illegal option -- \(String(letter).escaped)")
            }
            guard takesOne else {
                given.append((letter, ""))
                continue
            }
            if !scalars.isEmpty { return given.append((letter, String(scalars))) }
            guard let value = rest.popFirst() else { return lacksValue = letter }
            return given.append((letter, value))
        }
    }

    private static func table(_ letters: String) -> [Unicode.Scalar: Bool] {
        var table: [Unicode.Scalar: Bool] = [:]
        let scalars = Array(letters.unicodeScalars)
        for (index, letter) in scalars.enumerated() where letter != ":" {
            table[letter] = index + 1 < scalars.count && scalars[index + 1] == ":"
        }
        return table
    }

    func has(_ letter: Unicode.Scalar) -> Bool { given.contains { $0.letter == letter } }

    /// The last value of an option, as with getopt.
    subscript(letter: Unicode.Scalar) -> String? { given.last { $0.letter == letter }?.value }

    /// Whether any of these is given.
    func hasAny(of letters: String) -> Bool { letters.unicodeScalars.contains { has($0) } }
}
