// SPDX-License-Identifier: Apache-2.0
// Items for another device alone, from the command line: neither damaged nor lost.

import Foundation
import Testing

@Suite("items of another device")
struct OtherDeviceTests {
    private let vault: LockableTool

    /// The vault has one item for its device alone, and the device key is gone.
    init() throws {
        vault = try LockableTool()
        try vault.store("--accessibility when-unlocked-this-device-only")
        try FileManager.default.moveItem(at: vault.tool.deviceKey, to: kept)
    }

    private var kept: URL { vault.tool.home.appendingPathComponent("kept.key") }

    @Test(arguments: ["get -s example.com -a alice", "delete -s example.com -a alice", "set -s example.com -a alice"])
    func item_ofAnotherDevice_isNotCalledDamaged(_ line: String) throws {
        let run = try vault.withKey(line, input: otherSecret)
        #expect(run.status == 20)
        #expect(run.errors.contains("another device") && !run.errors.contains("damaged"), "\(run.errors)")
    }

    /// A version that does not open has no name here: it would be in the way of every list for ever.
    @Test func versionOfAnotherDevice_isQuarantinedWhenAllAreCleared() throws {
        try FileManager.default.moveItem(at: kept, to: vault.tool.deviceKey)
        #expect(try vault.withKey("set -s example.com -a alice", input: otherSecret).status == 0)
        try FileManager.default.moveItem(at: vault.tool.deviceKey, to: kept)
        #expect(try vault.withKey("set -s other.example -a bob", input: secret).status == 0)
        #expect(try vault.withKey("set -s other.example -a bob", input: otherSecret).status == 0)
        let history = try vault.withKey("history")
        #expect(history.status == 0 && history.text.contains("bob"), "\(history.everything)")
        #expect(try vault.withKey("delete -s example.com --all").status == 0)
        #expect(try vault.withKey("history --clear --all").errors.contains("Removed 1 version(s). 1 that do not open"))
        try vault.unlock()
        #expect(try vault.tool.run("quarantine", "purge", "--all", "--yes").status == 0)
        let run = try vault.withKey("list")
        #expect(run.status == 0 && run.errors.isEmpty && run.text.contains("bob"), "\(run.everything)")
    }

    /// It is not absent, so nothing may take its place.
    @Test func itemOfAnotherDevice_isNotReplacedByItsEarlierVersion() throws {
        try vault.withKey("set -s moved.example -a carol", input: secret)
        try FileManager.default.moveItem(at: kept, to: vault.tool.deviceKey)
        let options = "--accessibility when-unlocked-this-device-only"
        #expect(try vault.withKey("set -s moved.example -a carol \(options)", input: otherSecret).status == 0)
        #expect(try vault.withKey("set -s plain.example -a dave", input: secret).status == 0)
        try FileManager.default.moveItem(at: vault.tool.deviceKey, to: kept)
        #expect(try vault.withKey("undo -s moved.example -a carol").status == 20)
        #expect(try vault.withKey("quarantine list").output.isEmpty)
    }

    @Test func list_leavesItOutAndSaysSo() throws {
        try vault.unlock()
        #expect(try vault.tool.shell("echo x | \"$CTL\" set -s other.example -a bob").status == 0)
        let run = try vault.tool.run("list")
        #expect(run.status == 0 && run.text.contains("bob") && !run.text.contains("alice"))
        #expect(run.errors.contains("1 item(s) bound to another device"))
    }

    /// What was unlocked without the device key has none of what is bound to it.
    @Test func deviceKey_thatIsBack_requiresUnlockingAgain() throws {
        try vault.unlock()
        try FileManager.default.moveItem(at: kept, to: vault.tool.deviceKey)
        let run = try vault.get()
        #expect(run.status == 5 && run.errors.contains("keychainctl unlock"), "\(run.errors)")
        try vault.unlock()
        #expect(try vault.get().output == secret)
    }

    /// Also if the vault is locked, and it is unknown whether unlocking would open the item.
    @Test(arguments: [false, true])
    func deletionOfAll_quarantinesIt(isLockedAgain: Bool) throws {
        try vault.unlock()
        if isLockedAgain { #expect(try vault.tool.run("lock").status == 0) }
        #expect(try vault.tool.run("delete", "-s", "example.com", "--all").status == 0)
        #expect(try vault.withKey("quarantine list").text.contains("other-device"))
        #expect(try vault.withKey("quarantine restore --all").status == 20)
        try FileManager.default.moveItem(at: kept, to: vault.tool.deviceKey)
        #expect(try vault.withKey("quarantine restore --all").status == 0)
        #expect(try vault.withKey("get -s example.com").output == secret)
    }
}
