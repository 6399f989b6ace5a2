// SPDX-License-Identifier: Apache-2.0
// Secrets that move from plain text into the keychain.

import Foundation
import KeychainAdoption
import KeychainKit
import KeychainTestSupport
import Testing

@Suite("Adoption of plain text")
struct AdoptionTests {
    private let store = SecretStore(service: "app", store: MemoryStore())
    private let folder: TemporaryFolder
    private let file: PropertyListFile

    init() throws {
        folder = try TemporaryFolder("adoption")
        file = PropertyListFile(folder.url.appendingPathComponent("settings.plist"))
        let values: [String: Any] = [
            "token": "t0ken", "raw": Data([0, 255]), "count": 3, "ratio": 1.5, "flag": true, "names": ["a", "b"],
            "other": "stays",
        ]
        try PropertyListSerialization.data(fromPropertyList: values, format: .xml, options: 0).write(to: file.url)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.url.path)
    }

    @Test func values_adopted_areInTheKeychainAndNotInTheFile() throws {
        let keys = try store.adopt(["token": "alice", "raw": "raw", "absent": "absent"], from: file)
        #expect(keys == ["raw", "token"])
        #expect(try store.read(String.self, for: "alice") == "t0ken")
        #expect(try store.read(Data.self, for: "raw") == Data([0, 255]))
        #expect(try !store.contains(for: "absent"))
        #expect(try file.propertyListValue(forKey: "token") == nil)
        #expect(try file.propertyListValue(forKey: "other") as? String == "stays")
    }

    @Test func valuesOfEveryType_adopted_areReadAsTheirTypes() throws {
        try store.adopt(["count": "count", "ratio": "ratio", "flag": "flag", "names": "names"], from: file)
        #expect(try store.read(Int.self, for: "count") == 3)
        #expect(try store.read(Double.self, for: "ratio") == 1.5)
        #expect(try store.read(Bool.self, for: "flag") == true)
        #expect(try store.read([String].self, for: "names") == ["a", "b"])
    }

    @Test func file_afterAdoption_keepsItsPermissions() throws {
        try store.adopt(["token": "alice"], from: file)
        let attributes = try FileManager.default.attributesOfItem(atPath: file.url.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test func fileBehindALink_afterAdoption_hasLostTheValueAndKeepsItsPermissions() throws {
        let link = file.url.appendingPathExtension("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file.url)
        try store.adopt(["token": "alice"], from: PropertyListFile(link))
        #expect(try file.propertyListValue(forKey: "token") == nil)
        #expect(try file.propertyListValue(forKey: "other") as? String == "stays")
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == file.url.path)
        let attributes = try FileManager.default.attributesOfItem(atPath: file.url.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    /// Foundation reads the oldest format, and ends a program that writes it.
    @Test func fileOfTheOldestFormat_afterAdoption_hasLostTheValueAndKeepsTheRest() throws {
        try Data("token = t0ken;\nother = stays;\n".utf8).write(to: file.url)
        try store.adopt(["token": "alice"], from: file)
        #expect(try store.read(String.self, for: "alice") == "t0ken")
        #expect(try file.propertyListValue(forKey: "token") == nil)
        #expect(try file.propertyListValue(forKey: "other") as? String == "stays")
    }

    /// Foundation reads a set from a binary list, and ends the program when it is looked at.
    @Test func fileWithASet_isNoPropertyList() throws {
        var bytes = Data("bplist00".utf8)
        bytes += Data([0xC1, 1, 0x51, 0x61, 8, 10])
        bytes += Data([0, 0, 0, 0, 0, 0, 1, 1])
        for number: UInt8 in [2, 0, 12] { bytes += Data(count: 7) + Data([number]) }
        try bytes.write(to: file.url)
        #expect { try file.propertyListValue(forKey: "a") } throws: {
            ($0 as? KeychainError)?.reason == .undecodableInput
        }
    }

    @Test func numberBeyondSignedOnes_adopted_isThatNumber() throws {
        try PropertyListSerialization.data(fromPropertyList: ["big": UInt64.max], format: .xml, options: 0)
            .write(to: file.url)
        try store.adopt(["big": "big"], from: file)
        #expect(try store.read(UInt64.self, for: "big") == .max)
    }

    @Test(arguments: [false, true]) func value_thatChangesMeanwhile_staysInTheSource(isAsync: Bool) async throws {
        let source = ChangingSource()
        let result =
            isAsync
            ? await reason { try await store.adopt(["token": "alice"], from: source) }
            : reason { try store.adopt(["token": "alice"], from: source) }
        #expect(result == .busy)
        #expect(source.value == "2")
    }

    @Test func values_adoptedWithoutRemoving_areInBothPlaces() async throws {
        try await store.adopt(["token": "alice"], from: file, removing: false)
        #expect(try await store.read(String.self, for: "alice") == "t0ken")
        #expect(try file.propertyListValue(forKey: "token") as? String == "t0ken")
    }

    @Test func value_thatDiffersFromTheKeychains_changesNothing() throws {
        try store.save("another", for: "alice")
        let result = reason { try store.adopt(["raw": "raw", "token": "alice"], from: file) }
        #expect(result == .duplicateItem)
        #expect(try !store.contains(for: "raw"))
        #expect(try file.propertyListValue(forKey: "raw") as? Data == Data([0, 255]))
    }

    @Test func valueThatIsThereAlready_adopted_isRemovedFromTheFile() throws {
        try store.save("t0ken", for: "alice")
        try store.adopt(["token": "alice"], from: file)
        #expect(try file.propertyListValue(forKey: "token") == nil)
    }

    @Test func keychain_thatForgets_keepsTheOriginals() throws {
        let forgetful = SecretStore(service: "app", store: ForgetfulStore())
        let result = reason { try forgetful.adopt(["token": "alice"], from: file) }
        #expect(result == .inputOutput)
        #expect(try file.propertyListValue(forKey: "token") as? String == "t0ken")
    }

    @Test func fileThatIsNoPropertyList_adopted_isAnErrorWithoutContent() throws {
        try Data("secret stuff".utf8).write(to: file.url)
        let failure = failure { try store.adopt(["token": "alice"], from: file) }
        #expect(failure?.reason == .undecodableInput)
        #expect(failure?.message.contains("secret stuff") == false)
    }

    @Test func defaults_adopted_loseTheKey() throws {
        let suite = "adoption-\(UUID().uuidString)"
        let defaults = try #require(UserDefaults(suiteName: suite))
        defer { defaults.removePersistentDomain(forName: suite) }
        defaults.set("t0ken", forKey: "token")
        defaults.set(7, forKey: "count")
        try store.adopt(["token": "alice", "count": "count"], from: defaults)
        #expect(try store.read(String.self, for: "alice") == "t0ken")
        #expect(try store.read(Int.self, for: "count") == 7)
        #expect(defaults.object(forKey: "token") == nil)
    }
}

/// A source whose value another program changes after it was read.
private final class ChangingSource: PlaintextSource {
    private(set) var value: String? = "1"

    func propertyListValue(forKey _: String) throws(KeychainError) -> Any? {
        defer { if value == "1" { value = "2" } }
        return value
    }

    func removeValues(forKeys _: [String]) throws(KeychainError) { value = nil }
}
