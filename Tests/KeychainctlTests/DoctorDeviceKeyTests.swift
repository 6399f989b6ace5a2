// SPDX-License-Identifier: Apache-2.0
// What `doctor` finds in a vault that cannot be opened because of its device key.

import Foundation
import Testing

@Suite("doctor, with a device key that cannot be used")
struct DoctorDeviceKeyTests {
    /// What is done to a device key, and how the examination tells of it.
    private static let unusableKeys = [
        ("chmod 644", "device-key: "), ("echo junk >", "device-key: "), ("rm", "opening: "),
    ]

    @Test(arguments: unusableKeys)
    func vault_whoseDeviceKeyCannotBeUsed_isExaminedAsFarAsItGoes(_ spoiling: String, _ check: String) throws {
        let tool = try Tool()
        try tool.store()
        let run = try tool.shell("\(spoiling) .config/swift-keychain/device.key; \"$CTL\" doctor")
        #expect(run.status == 1)
        #expect(run.text.contains("problem  " + check), "\(run.text)")
        #expect(run.text.contains("ok       database: The database is intact."), "\(run.text)")
        #expect(run.text.contains("ok       items: 1 item was not checked"), "\(run.text)")
    }

    @Test func vault_thatIsLockedAndWhoseDeviceKeyCannotBeUsed_isExaminedAsFarAsItGoes() throws {
        let vault = try LockableTool()
        try vault.store()
        let run = try vault.tool.shell("chmod 644 .config/swift-keychain/device.key; \"$CTL\" doctor")
        #expect(run.text.contains("problem  device-key: ") && run.text.contains("problem  opening: "), "\(run.text)")
        #expect(run.text.contains("1 is locked and not checked."), "\(run.text)")
        #expect(!run.text.contains("device-binding"), "\(run.text)")
    }

    @Test func vault_whoseDeviceKeyCannotBeUsed_withASecret_isExaminedAllTheSame() throws {
        let vault = try LockableTool()
        try vault.store()
        #expect(chmod(vault.tool.deviceKey.path, 0o644) == 0)
        let run = try vault.withKey("doctor")
        #expect(run.status == 1)
        #expect(run.text.contains("problem  unlocking: The secret was not tried."), "\(run.everything)")
        #expect(run.text.contains("ok       database: The database is intact."), "\(run.everything)")
    }

    /// The message says so.
    @Test func deviceKey_thatIsDamaged_isMovedAwayBeforeTheVaultIsAdopted() throws {
        let vault = try LockableTool()
        try vault.store()
        try vault.tool.write(Data("junk".utf8), to: ".config/swift-keychain/device.key")
        let refused = try vault.withKey("protect adopt")
        #expect(refused.status == 8 && refused.errors.contains("move the file away"), "\(refused.errors)")
        try FileManager.default.removeItem(at: vault.tool.deviceKey)
        #expect(try vault.withKey("protect adopt").status == 0)
    }

    @Test func vault_withAWrongSecret_isNotExamined() throws {
        let vault = try LockableTool()
        let run = try vault.withOtherKey("doctor")
        #expect(run.status == 7 && run.text.isEmpty, "\(run.everything)")
    }
}
