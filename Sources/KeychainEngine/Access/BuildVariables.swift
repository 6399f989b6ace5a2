// SPDX-License-Identifier: Apache-2.0
// The variables that Xcode writes into entitlements files and expands at build time.

/// Expands `$(AppIdentifierPrefix)` and `$(TeamIdentifierPrefix)` in a file that was not processed by Xcode.
struct BuildVariables {
    /// The path of the file, for messages.
    let path: String
    /// The team, without the dot at the end of the prefixes.
    let team: String?

    /// Replaces every variable in the entry. The prefix ends with a dot. If another dot follows the variable, it is
    /// dropped: the author took the prefix for the bare team and meant one dot.
    ///
    /// - Throws: `unavailable` for a variable without a value. A group named after the variable itself would be shared
    ///   by no program, or by all programs with the same mistake.
    func expanded(_ entry: EntitlementEntry) throws(KeychainError) -> String {
        var expanded = ""
        var rest = Substring(entry.text)
        while let variable = rest.firstRange(of: /\$[({][^)}]*[)}]?/) {
            expanded += rest[..<variable.lowerBound] + (try value(of: rest[variable], in: entry))
            rest = rest[variable.upperBound...]
            if rest.first == "." { rest.removeFirst() }
        }
        return expanded + rest
    }

    /// - Parameter variable: Spelled `$(name)` or `${name}`.
    private func value(of variable: Substring, in entry: EntitlementEntry) throws(KeychainError) -> String {
        let prefixes = ["AppIdentifierPrefix", "TeamIdentifierPrefix"]
        guard prefixes.contains(where: { variable == "$(\($0))" || variable == "${\($0)}" }) else {
            throw unusable(entry, "holds a variable that has a value only in Xcode", "Write the value in its place.")
        }
        let remedy =
            "the team's identifier, without a dot, in the file as com.apple.developer.team-identifier, in the "
            + "variable KEYCHAIN_TEAM_ID, or in place of the entry's variable."
        guard let team else { throw unusable(entry, "begins with a team identifier that is not set", "Give " + remedy) }
        guard Self.isTeam(team) else {
            throw unusable(entry, "needs a team identifier of letters and digits", "Give " + remedy)
        }
        return team + "."
    }

    /// Apple's team identifiers have ten characters. Any name is valid here if it contains no dot.
    private static func isTeam(_ text: String) -> Bool {
        !text.isEmpty && text.unicodeScalars.allSatisfy { $0.isASCII && $0.properties.isAlphabetic || "0"..."9" ~= $0 }
    }

    private func unusable(_ entry: EntitlementEntry, _ what: String, _ remedy: String) -> KeychainError {
        let text = entry.text.count > 100 ? entry.text.prefix(100) + "…" : entry.text[...]
        return KeychainError(
            .unavailable, "In the entitlements '\(path)', the entry '\(text)' of \(entry.key) \(what). \(remedy)")
    }
}
