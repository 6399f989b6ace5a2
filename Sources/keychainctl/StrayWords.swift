// SPDX-License-Identifier: Apache-2.0
// Rejects unexpected words on the command line without repeating them, because they may be secret.

import ArgumentParser

/// Accepts every word that belongs to no option. The parser's own messages would quote it, possibly into a log.
struct StrayWords: ParsableArguments {
    @Argument(parsing: .allUnrecognized, help: .hidden)
    var words: [String] = []

    func validate() throws {
        guard let first = words.first else { return }
        guard let option = Self.optionName(first) else {
            throw ValidationError(
                "Unexpected argument. Values never go on the command line, where other programs can see them. "
                    + "Give the value on standard input, with --from-fd, or at the prompt.")
        }
        throw ValidationError(
            "Unknown option \(option). Values never go on the command line. To list the options, use --help.")
    }

    /// The part of a word that is certainly the name of an option: the letters of `--name=…`, the first letter of
    /// `-n…`.
    private static func optionName(_ word: String) -> String? {
        if word.hasPrefix("--") {
            let name = word.dropFirst(2).prefix { $0 != "=" }
            guard !name.isEmpty, name.allSatisfy({ ("a"..."z").contains($0) || $0 == "-" }) else { return nil }
            return "--" + name
        }
        return word.hasPrefix("-") && word.count > 1 ? String(word.prefix(2)) : nil
    }
}
