// SPDX-License-Identifier: Apache-2.0
// Nothing that was stored shows in any file or message, and every setting that safety rests on holds.

import Foundation
import KeychainEngine
import KeychainTestSupport
import Testing

@testable import KeychainVault

struct HygieneTests {
    /// Items whose every field holds a needle.
    static let needles = [
        "needle-service", "needle-account", "needle-server", "needle-label", "needle-comment", "needle-description",
        "needle-generic", "needle-group", "needle-path", "needle-domain", "needle-tag", "needle-subject",
        "needle-value-one", "needle-value-two",
    ]

    private static func fill(_ engine: Engine) throws {
        var password = Query(
            .genericPassword,
            [
                .service: .string("needle-service"), .account: .string("needle-account"),
                .label: .string("needle-label"), .comment: .string("needle-comment"),
                .itemDescription: .string("needle-description"), .generic: .data(Data("needle-generic".utf8)),
                .accessGroup: .string("needle-group"),
            ])
        password.value = Data("needle-value-one".utf8)
        try engine.add(password)
        try engine.update(.genericPassword("needle-service", "needle-account"), value: "needle-value-two")
        try engine.add(
            Query(
                .internetPassword,
                [
                    .server: .string("needle-server"), .path: .string("needle-path"),
                    .securityDomain: .string("needle-domain"),
                ]))
        try engine.add(Query(.key, [.applicationTag: .string("needle-tag")]))
        try engine.add(Query(.certificate, [.subject: .data(Data("needle-subject".utf8))]))
    }

    private static func check(_ files: [String: Data], _ when: String) {
        for (path, bytes) in files {
            for needle in needles {
                let encodings = [
                    Data(needle.utf8), needle.data(using: .utf16LittleEndian), Data(needle.utf8).base64EncodedData(),
                ]
                for encoding in encodings.compactMap({ $0 }) {
                    #expect(bytes.range(of: encoding) == nil, "\(needle) in \(path) \(when)")
                }
            }
        }
    }

    @Test func storedText_isInNoFileOfTheVault() throws {
        let test = try TestVault()
        try Self.fill(test.engine)
        Self.check(try test.files(), "while open")
        try test.engine.delete(.genericPassword("needle-service", "needle-account"))
        Self.check(try test.files(), "after deleting")
        try test.vault.close()
        Self.check(try test.files(), "after closing")
    }

    @Test func storedText_isInNoTemporaryFile() throws {
        let test = try TestVault()
        let temporary = test.root + "/temporary"
        #expect(mkdir(temporary, 0o700) == 0)
        let arguments = test.exerciserArguments(["add", "needle-account", "needle-value-one"])
        let child = try ChildProcess(
            Exerciser.path, arguments,
            environment: ["TMPDIR": temporary, "SQLITE_TMPDIR": temporary])
        #expect(try child.start().finish().output == "done\n")
        Self.check(try test.files(), "after another process")
        #expect(try FileManager.default.contentsOfDirectory(atPath: temporary).isEmpty)
    }

    @Test func storedText_isInNoMessage() throws {
        let test = try TestVault()
        try Self.fill(test.engine)
        let database = try Connection(test.databaseFile)
        var messages: [String] = []
        func collect(_ body: () throws -> Void) { messages.append(failure(body)?.message ?? "none") }

        collect { try Self.fill(test.engine) }
        collect { _ = try test.engine.value(Query(.genericPassword, [.server: .string("needle-server")])) }
        collect { _ = try test.engine.value(Query(.genericPassword, [.creationDate: .string("needle-value-one")])) }
        try database.execute("UPDATE item SET metadata = zeroblob(284)")
        collect { _ = try test.engine.value(.genericPassword("needle-service", "needle-account")) }
        collect {
            try test.engine.update(.genericPassword("needle-service", "needle-account"), value: "needle-value-one")
        }
        try database.execute("DROP TABLE item")
        collect { try test.engine.add(.genericPassword("needle-service", "needle-account", value: "needle-value-one")) }
        #expect(messages.allSatisfy { $0 != "none" })
        for message in messages { #expect(!message.contains("needle"), "\(message)") }
    }

    @Test func deletedItem_leavesNoSealedBytesBehind() throws {
        let test = try TestVault()
        try test.engine.add(.genericPassword("s", "kept", value: "v"))
        try test.engine.add(.genericPassword("s", "gone", value: "w"))
        let database = try Connection(test.databaseFile)
        let sealed = try database.blobs("SELECT value FROM item ORDER BY id")
        try database.close()
        try test.engine.delete(.genericPassword("s", "gone"))
        let gone = try #require(sealed.last)
        for (path, bytes) in try test.files() { #expect(bytes.range(of: gone) == nil, "\(path)") }
    }

    @Test func sizesOnDisk_ofDifferentShortValues_areEqual() throws {
        let test = try TestVault()
        for (account, value) in [("a", ""), ("b", "x"), ("c", String(repeating: "y", count: 59))] {
            try test.engine.add(.genericPassword("s", account, value: value))
        }
        try test.engine.add(.genericPassword("s", "none"))
        let database = try Connection(test.databaseFile)
        let sizes = try database.numbers("SELECT DISTINCT length(value) FROM item")
        #expect(sizes.count == 1)
    }

    @Test(arguments: [
        ("synchronous", "2"), ("journal_mode", "wal"), ("secure_delete", "1"), ("trusted_schema", "0"),
        ("cell_size_check", "1"), ("temp_store", "2"),
    ])
    func writingConnection_hasTheSettingsThatSafetyRestsOn(_ pragma: String, _ expected: String) throws {
        let test = try TestVault()
        try test.engine.add(.genericPassword("s", "a", value: "v"))
        let session = try #require(try test.vault.openSession())
        #expect(try session.writingConnection().use { try $0.text("PRAGMA \(pragma)") } == expected)
    }

    @Test func passcodeClass_withoutPasscode_isUnavailable() throws {
        let test = try TestVault()
        let query = Query(.genericPassword, [.accessible: .string("akpu")])
        #expect(reason { try test.engine.add(query) } == .unavailable)
    }

    @Test(arguments: Accessibility.allCases.filter { $0 != .whenPasscodeSetThisDeviceOnly })
    func item_ofEachAccessibilityClass_isSealedUnderItsOwnKey(_ accessibility: Accessibility) throws {
        let test = try TestVault()
        var query = Query.genericPassword("s", "a", value: "v")
        query.attributes[.accessible] = .string(accessibility.rawValue)
        try test.engine.add(query)
        #expect(try test.reopened().text(.genericPassword("s", "a")) == "v")
        let database = try Connection(test.databaseFile)
        #expect(try database.number("SELECT class FROM item") == Int64(accessibility.number))
    }
}
