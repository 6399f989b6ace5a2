// SPDX-License-Identifier: Apache-2.0
// From an entitlements list to access groups (rule 4.1).

import Foundation
import KeychainEngine
import KeychainTestSupport
import Testing

@Suite("Rules: entitlements")
struct EntitlementTests {
    private static let accessGroups = "keychain-access-groups"
    private static let associated = "com.apple.developer.associated-application-identifier"
    private static let identifier = "application-identifier"
    private static let identifierOnMacOS = "com.apple.application-identifier"
    private static let applicationGroups = "com.apple.security.application-groups"
    private static let deny = "com.apple.private.keychain.deny"
    private static let team = "com.apple.developer.team-identifier"

    static let lists: [Row<[String]>] = [
        Row("nothing", [:], []),
        Row("an empty array", [accessGroups: [String]()], []),
        Row("groups, in their order", [accessGroups: ["b", "a"]], ["b", "a"]),
        Row(
            "all kinds, in Apple's order",
            [
                applicationGroups: ["group.g"], identifier: "T.app", associated: ["T.web"], accessGroups: ["T.shared"],
                identifierOnMacOS: "T.mac",
            ], ["T.shared", "T.web", "T.app", "group.g"]),
        Row("the identifier of macOS", [identifierOnMacOS: "T.mac"], ["T.mac"]),
        Row("the identifier of macOS beside one that is no string", [identifier: 1, identifierOnMacOS: "m"], ["m"]),
        Row("a group twice", [accessGroups: ["a", "b", "a"], identifier: "b"], ["a", "b"]),
        Row("a group in two Unicode forms", [accessGroups: ["é", "e\u{301}"]], ["é", "e\u{301}"]),
        Row(
            "the token group first", [accessGroups: ["com.apple.token", "a"], identifier: "b"],
            [
                "a", "b", "com.apple.token",
            ]),
        Row("the token group alone", [accessGroups: ["com.apple.token"]], ["com.apple.token"]),
        Row("the empty group", [accessGroups: [""]], [""]),
        Row("a number among groups", [accessGroups: ["a", 1] as [Any], identifier: "b"], ["b"]),
        Row("a truth value among groups", [accessGroups: [true, "a"] as [Any], identifier: "b"], ["b"]),
        Row("a date among groups", [accessGroups: ["a", Date()] as [Any], identifier: "b"], ["b"]),
        Row("data among groups", [accessGroups: ["a", Data()] as [Any], identifier: "b"], ["b"]),
        Row("an array among groups", [accessGroups: ["a", ["c"]] as [Any], identifier: "b"], ["b"]),
        Row("a string in place of an array", [accessGroups: "a", identifier: "b"], ["b"]),
        Row("an array in place of a string", [accessGroups: ["a"], identifier: ["b"]], ["a"]),
        Row("keychain denied", [accessGroups: ["a"], identifier: "b", deny: true], []),
        Row("keychain not denied", [accessGroups: ["a"], deny: false], ["a"]),
        Row("keychain denied by a number", [accessGroups: ["a"], deny: 1], ["a"]),
        Row("other entitlements", ["com.apple.security.network.client": true, "x": [[["y": 1]]]], []),
    ]

    @Test(arguments: lists, [PropertyListSerialization.PropertyListFormat.xml, .binary])
    func list_inAnyFormat_givesGroupsInApplesOrder(
        row: Row<[String]>, format: PropertyListSerialization.PropertyListFormat
    ) throws {
        let entitlements = try Entitlements(try propertyList(row.entries, format), path: "app.entitlements")
        #expect(entitlements.groups.map { Array($0.utf8) } == row.expected.map { Array($0.utf8) })
    }

    @Test func list_inTheOldFormat_givesGroups() throws {
        let text = #"{ "keychain-access-groups" = (a, "b c"); "application-identifier" = "T.app"; }"#
        #expect(try Entitlements(Data(text.utf8), path: "").groups == ["a", "b c", "T.app"])
    }

    @Test func list_inUTF16_givesGroups() throws {
        let text = #"""
            <?xml version="1.0" encoding="UTF-16"?><plist version="1.0"><dict>
            <key>keychain-access-groups</key><array><string>a</string></array></dict></plist>
            """#
        #expect(try Entitlements(try #require(text.data(using: .utf16)), path: "").groups == ["a"])
    }

    // MARK: Variables of Xcode

    static let variables: [(entry: String, expected: String)] = [
        ("$(AppIdentifierPrefix)com.example.app", "A1B2C3D4E5.com.example.app"),
        ("$(TeamIdentifierPrefix)com.example.app", "A1B2C3D4E5.com.example.app"),
        ("${AppIdentifierPrefix}com.example.app", "A1B2C3D4E5.com.example.app"),
        // The prefix includes its dot; a second dot is ignored.
        ("$(AppIdentifierPrefix).com.example.app", "A1B2C3D4E5.com.example.app"),
        ("${TeamIdentifierPrefix}.com.example.app", "A1B2C3D4E5.com.example.app"),
        ("$(AppIdentifierPrefix)..com.example.app", "A1B2C3D4E5..com.example.app"),
        ("$(AppIdentifierPrefix).", "A1B2C3D4E5."),
        ("x$(AppIdentifierPrefix)$(TeamIdentifierPrefix)", "xA1B2C3D4E5.A1B2C3D4E5."),
        ("$(AppIdentifierPrefix).$(TeamIdentifierPrefix).a", "A1B2C3D4E5.A1B2C3D4E5.a"),
        ("$5 (five) $", "$5 (five) $"),
    ]

    @Test(arguments: variables)
    func prefix_isExpandedToTheTeamAndOneDot(row: (entry: String, expected: String)) throws {
        #expect(try groups([Self.accessGroups: [row.entry]], team: "A1B2C3D4E5") == [row.expected])
        #expect(try groups([Self.accessGroups: [row.entry], Self.team: "A1B2C3D4E5"]) == [row.expected])
    }

    @Test(arguments: [accessGroups, associated, applicationGroups])
    func prefix_inAnyArray_isExpanded(key: String) throws {
        #expect(try groups([key: ["$(AppIdentifierPrefix)a"]], team: "T") == ["T.a"])
    }

    @Test(arguments: [identifier, identifierOnMacOS])
    func prefix_inAnIdentifier_isExpanded(key: String) throws {
        #expect(try groups([key: "$(AppIdentifierPrefix)a"], team: "T") == ["T.a"])
    }

    @Test func team_inTheList_goesBeforeThatOfTheEnvironment() throws {
        let list = [Self.accessGroups: ["$(AppIdentifierPrefix)a"], Self.team: "FILE"] as Entries
        #expect(try groups(list, team: "ENVIRONMENT") == ["FILE.a"])
    }

    @Test func groups_thatBecomeEqualWhenExpanded_areOne() throws {
        #expect(try groups([Self.accessGroups: ["T.a", "$(AppIdentifierPrefix)a"]], team: "T") == ["T.a"])
    }

    @Test(arguments: [
        ("$(AppIdentifierPrefix)a", nil), ("$(AppIdentifierPrefix)a", ""), ("$(AppIdentifierPrefix)a", "T."),
        ("$(AppIdentifierPrefix)a", "$(DEVELOPMENT_TEAM)"), ("$(AppIdentifierPrefix)$(CFBundleIdentifier)", "T"),
        ("$(appidentifierprefix)a", "T"), ("$(AppIdentifierPrefix}a", "T"), ("$(AppIdentifierPrefix", "T"), ("$(", "T"),
        ("$()", "T"), ("$(AppIdentifierPrefix:lower)a", "T"), ("$($(AppIdentifierPrefix))", "T"),
    ])
    func variable_thatCannotBeExpanded_isRefusedAndNamed(entry: String, team: String?) throws {
        let failure = #expect(throws: KeychainError.self) {
            try groups([Self.accessGroups: ["a", entry]], team: team)
        }
        #expect(failure?.reason == .unavailable)
        for text in ["app.entitlements", Self.accessGroups, entry] {
            #expect(failure?.message.contains(text) == true, "\(text)")
        }
    }

    @Test func variable_inAnEntitlementThatGivesNoGroup_isNotLookedAt() throws {
        #expect(try groups([Self.accessGroups: ["a"], "other": ["$(CFBundleIdentifier)"]]) == ["a"])
    }

    // MARK: Broken lists

    private func isRefused(_ bytes: Data) -> Bool {
        do throws(KeychainError) {
            _ = try Entitlements(bytes, path: "/a/b.entitlements")
            return false
        } catch {
            return error.reason == .unavailable && error.message.contains("/a/b.entitlements")
        }
    }

    /// Only line ends after the last tag may be missing.
    @Test func listInXML_cutAnywhere_isRefused() throws {
        let whole = try propertyList([Self.accessGroups: ["a", "b"], Self.identifier: "T.app"])
        let end = try #require(whole.range(of: Data("</plist>".utf8))).upperBound
        for length in 0..<end { #expect(isRefused(whole.prefix(length)), "\(length) bytes") }
        #expect(!isRefused(whole))
    }

    @Test func listInBinary_cutAnywhere_isRefused() throws {
        let whole = try propertyList([Self.accessGroups: ["a", "b"], Self.identifier: "T.app"], .binary)
        for length in 0..<whole.count { #expect(isRefused(whole.prefix(length)), "\(length) bytes") }
        #expect(!isRefused(whole))
    }

    /// Whether a changed byte can be noticed is up to the format; that it is read to an end is up to us.
    @Test func list_withAnyByteChanged_isReadOrRefused() throws {
        for format in [PropertyListSerialization.PropertyListFormat.xml, .binary] {
            let whole = try propertyList([Self.accessGroups: ["a", "b"], Self.identifier: "T.app"], format)
            for index in whole.indices {
                for value in [0x00, 0x01, 0x3c, 0x7f, 0x80, 0xff] as [UInt8] {
                    var bytes = whole
                    bytes[index] = value
                    let groups = (try? Entitlements(bytes, path: "").groups) ?? []
                    #expect(groups.count <= 3)
                }
            }
        }
    }

    @Test func randomBytes_areRefused() {
        for seed in 0..<200 {
            var generator = SeededGenerator(state: UInt64(seed))
            let bytes = Data((0..<(1 + seed * 5)).map { _ in UInt8.random(in: 0...255, using: &generator) })
            #expect(isRefused(bytes), "seed \(seed)")
            #expect(isRefused(Data("bplist00".utf8) + bytes), "binary, seed \(seed)")
        }
    }

    /// Foundation ends the program when it decodes such an array.
    @Test(arguments: [nil, accessGroups, "a"]) func list_withMoreEntriesThanBytes_isRefused(key: String?) {
        #expect(isRefused(.listWithAnEndlessArray(for: key)))
    }

    static let otherRoots = ["<array/>", "<string>a</string>", "<true/>", "<integer>1</integer>", "", "<data></data>"]

    @Test(arguments: otherRoots)
    func root_thatIsNoDictionary_isRefused(root: String) {
        #expect(isRefused(Data(#"<?xml version="1.0"?><plist version="1.0">\#(root)</plist>"#.utf8)))
    }

    @Test(arguments: ["", "\n", " \n\t ", "word", "(a, b)", "{", "{\"a\": [\"b\"]}", "<", "<!-- -->", "\0"])
    func text_thatIsNoList_isRefused(text: String) {
        #expect(isRefused(Data(text.utf8)))
    }

    static let nestings = [("<array>", "</array>"), ("<dict><key>a</key>", "</dict>"), ("<plist>", "</plist>")]

    /// Well-formed, and still refused: much deeper, and the parser of XML runs out of stack.
    @Test(arguments: nestings, [String.Encoding.utf8, .utf16])
    func list_nestedDeeply_isRefused(tags: (open: String, close: String), encoding: String.Encoding) throws {
        func nested(_ depth: Int) throws -> Data {
            let inside =
                String(repeating: tags.open, count: depth) + "<dict/>" + String(repeating: tags.close, count: depth)
            let encodingName = encoding == .utf8 ? "UTF-8" : "UTF-16"
            let text =
                "<?xml version='1.0' encoding='\(encodingName)'?><plist><dict><key>a</key>\(inside)</dict></plist>"
            return try #require(text.data(using: encoding))
        }
        #expect(!isRefused(try nested(100)))
        #expect(isRefused(try nested(400)))
    }

    @Test func listInTheOldFormat_nestedDeeply_isRefused() {
        #expect(isRefused(Data(("{a=" + String(repeating: "(", count: 60_000)).utf8)))
    }

    @Test func list_aboveTheLimitOfSize_isRefused() throws {
        let list = try propertyList([Self.accessGroups: ["a"]])
        let blanks = Data(repeating: UInt8(ascii: "\n"), count: Entitlements.sizeLimit - list.count)
        #expect(!isRefused(list + blanks))
        #expect(isRefused(list + blanks + Data("\n".utf8)))
    }

    @Test func list_ofMoreThan1000Groups_isRefused() throws {
        let names = (0...1000).map { "\($0)" }
        #expect(try groups([Self.accessGroups: Array(names.dropLast())]).count == 1000)
        #expect(isRefused(try propertyList([Self.accessGroups: names])))
    }
}

/// The same numbers in every run.
private struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        let mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        return mixed ^ (mixed >> 27)
    }
}
