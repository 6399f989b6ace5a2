// SPDX-License-Identifier: Apache-2.0
// An app and its widget, as processes of their own with entitlements beside them, over one vault.

import Foundation
import KeychainServices
import KeychainTestSupport
import Testing

@Suite("Programs with entitlements")
struct EntitledProgramTests {
    private let household: Household

    init() throws { household = try Household() }

    private static let group = "A1B2C3D4E5.com.example.remote"
    private static let shared = ["keychain-access-groups": ["$(AppIdentifierPrefix)com.example.remote"]]

    @Test func widget_withTheAppsGroup_readsWhatTheAppStored() throws {
        let app = try household.install("entitled-app", Self.shared)
        let widget = try household.install("entitled-widget", Self.shared)
        #expect(try app.status("add", Self.group) == errSecSuccess)
        #expect(try widget.run(Self.group) == ["0", "192.0.2.14"])
        #expect(try widget.run() == ["0", "192.0.2.14"])
    }

    @Test func app_withAGroup_addsToItUnasked() throws {
        let app = try household.install("entitled-app", Self.shared)
        #expect(try app.status("add") == errSecSuccess)
        #expect(try app.status("update", Self.group) == errSecSuccess)
        #expect(try app.status("delete", Self.group) == errSecSuccess)
    }

    @Test func widget_withAnotherGroup_doesNotGetWhatTheAppStored() throws {
        let app = try household.install("entitled-app", Self.shared)
        let widget = try household.install("entitled-widget", ["application-identifier": "A1B2C3D4E5.other"])
        #expect(try app.status("add") == errSecSuccess)
        #expect(try widget.status(Self.group) == errSecMissingEntitlement)
        #expect(try widget.status() == errSecItemNotFound)
    }

    @Test func program_withoutEntitlementsFile_isUnrestricted() throws {
        let app = try household.install("entitled-app", Self.shared)
        let widget = try household.install("entitled-widget", nil)
        #expect(try app.status("add") == errSecSuccess)
        #expect(try widget.run(Self.group) == ["0", "192.0.2.14"])
    }

    @Test(arguments: [
        Row("no group", [:], ()), Row("an empty list", ["keychain-access-groups": [String]()], ()),
        Row("denied", ["keychain-access-groups": [group], "com.apple.private.keychain.deny": true], ()),
    ])
    func program_withAListWithoutGroups_mayDoNothing(row: Row<Void>) throws {
        #expect(try household.allStatuses(row.entries) == Array(repeating: errSecMissingEntitlement, count: 8))
    }

    @Test func program_withABrokenFile_isRefusedEveryCall() throws {
        #expect(try household.allStatuses(broken: "<plist><dict>") == Array(repeating: errSecNotAvailable, count: 8))
        #expect(!FileManager.default.fileExists(atPath: household.vault))
    }

    @Test func program_startedThroughALink_hasTheEntitlementsOfItsFile() throws {
        let app = try household.install("entitled-app", Self.shared)
        #expect(try app.linked().status("add", "foreign") == errSecMissingEntitlement)
        #expect(try app.linked().status("add", Self.group) == errSecSuccess)
    }

    @Test func program_forWhichTheEnvironmentNamesAFile_isHeldToIt() throws {
        let app = try household.install("entitled-app", nil)
        let other = try household.install("entitled-widget", Self.shared)
        let environment = ["KEYCHAIN_ENTITLEMENTS": other.path + ".entitlements"]
        #expect(try app.status("add", "foreign", environment: environment) == errSecMissingEntitlement)
        #expect(try app.status("add", "foreign") == errSecSuccess)
    }
}

/// A folder with a vault and programs.
private final class Household {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("keychain-entitlements") }

    var vault: String { folder.path + "/vault" }

    /// Puts a built program there, with its entitlements beside it.
    func install(_ name: String, _ entitlements: Entries?) throws -> Program {
        let built = Programs.built(name)
        let program = folder.path + "/" + name
        // A second name for the file is enough, where it can have one, and is its path to the system.
        if link(built, program) != 0 { try Programs.copy(built, to: program) }
        if let entitlements { try folder.write(try propertyList(entitlements), to: name + ".entitlements") }
        return Program(path: program, home: folder.path)
    }

    /// Of all four calls by programs with this list, without a group and with one.
    func allStatuses(_ entitlements: Entries?) throws -> [OSStatus] {
        let app = try install("entitled-app", entitlements)
        let widget = try install("entitled-widget", entitlements)
        var statuses: [OSStatus] = []
        for group in [[], ["A1B2C3D4E5.com.example.remote"]] {
            for call in ["add", "update", "delete"] { statuses.append(try app.status([call] + group)) }
            statuses.append(try widget.status(group))
        }
        return statuses
    }

    /// The same with a text in place of a list.
    func allStatuses(broken text: String) throws -> [OSStatus] {
        for name in ["entitled-app", "entitled-widget"] {
            try folder.write(Data(text.utf8), to: name + ".entitlements")
        }
        return try allStatuses(nil)
    }
}

/// An installed program.
private struct Program {
    let path: String
    let home: String

    /// The same through a symbolic link elsewhere.
    func linked() throws -> Program {
        let link = home + "/link-" + UUID().uuidString
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        return Program(path: link, home: home)
    }

    func status(_ arguments: String..., environment: [String: String] = [:]) throws -> OSStatus {
        try status(arguments, environment)
    }

    func status(_ arguments: [String], _ environment: [String: String] = [:]) throws -> OSStatus {
        let line = try #require(try run(arguments, environment).first)
        return try #require(OSStatus(line))
    }

    func run(_ arguments: String...) throws -> [String] { try run(arguments, [:]) }

    /// The lines that it printed.
    private func run(_ arguments: [String], _ environment: [String: String]) throws -> [String] {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        let others = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("KEYCHAIN_") }
        let ours = [
            "KEYCHAIN_VAULT": home + "/vault", "KEYCHAIN_DEVICE_KEY": home + "/device.key",
            "KEYCHAIN_ANCHORS": "file", "XDG_STATE_HOME": home + "/state",
            "KEYCHAIN_TEAM_ID": "A1B2C3D4E5",
        ]
        process.environment = others.merging(ours) { $1 }.merging(environment) { $1 }
        process.standardOutput = output
        process.standardInput = FileHandle.nullDevice
        try process.run(limitedTo: .testLimit)
        let text = try output.fileHandleForReading.readAll()
        try process.waitForEnd()
        try #require(process.terminationReason == .exit && process.terminationStatus == 0)
        return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
