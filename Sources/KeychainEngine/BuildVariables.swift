// SPDX-License-Identifier: Apache-2.0
// The variables that Xcode puts into entitlements files, and expands when it builds.

/// Expands `$(AppIdentifierPrefix)` and `$(TeamIdentifierPrefix)`, as nobody has done for a file that is used as it stands.
struct BuildVariables {
    /// Where the entries come from, for messages.
    let path: String
    /// The team, without the dot that the prefixes end in.
    let team: String?

    /// The entry with every variable replaced. A dot right behind one is the prefix's own: people who take the prefix for
    /// the bare team write it once more, and mean one dot.
    ///
    /// - Throws: `unavailable` for a variable without a value: a group that is named after the variable itself would be
    ///   shared by nobody, or by everybody who makes the same mistake.
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
        guard let team else { throw unusable(entry, "begins with a team that nothing names", "Give " + remedy) }
        guard Self.isTeam(team) else { throw unusable(entry, "needs a team of letters and digits", "Give " + remedy) }
        return team + "."
    }

    /// Apple's have ten characters; any name will do, but a dot of its own would be one too many.
    private static func isTeam(_ text: String) -> Bool {
        !text.isEmpty && text.unicodeScalars.allSatisfy { $0.isASCII && $0.properties.isAlphabetic || "0"..."9" ~= $0 }
    }

    private func unusable(_ entry: EntitlementEntry, _ what: String, _ remedy: String) -> KeychainError {
        let text = entry.text.count > 100 ? entry.text.prefix(100) + "…" : entry.text[...]
        return KeychainError(
            .unavailable, "In the entitlements '\(path)', the entry '\(text)' of \(entry.key) \(what). \(remedy)")
    }
}
