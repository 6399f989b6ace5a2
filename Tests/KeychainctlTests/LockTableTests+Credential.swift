// SPDX-License-Identifier: Apache-2.0
// A credential that does not open the vault.

import Foundation
import Testing

extension LockTableTests {
    @Test(arguments: ["get -s example.com", "list", "delete -s example.com -a alice", "set -s s -a a < paper"])
    func verbOnItems_withAWrongCredential_saysThatItIsWrong(verb: String) throws {
        let (vault, environment) = try Self.vault(.wrongCredential)
        let run = try vault.tool.shell("\(environment) \"$CTL\" \(verb)")
        #expect(run.status == 7, "\(run.errors)")
        #expect(run.errors.contains("credentials/swift-keychain.key' does not open this vault"))
    }

    /// These open the vault with a secret that the user would be asked for.
    @Test(arguments: [
        "unlock", "rotate", "protect adopt", "protect add passphrase", "protect add device-key",
        "protect remove recovery-key", "protect change recovery-key",
    ])
    func verbOnTheVault_withAWrongCredentialAndNobodyToAsk_saysThatItIsWrong(verb: String) throws {
        let (vault, environment) = try Self.vault(.wrongCredential)
        let run = try vault.tool.shell("\(environment) setsid --wait \"$CTL\" \(verb)")
        #expect(run.status == (verb == "unlock" && !Tool.hasKeyring ? 13 : 7), "\(run.errors)")
        #expect(run.errors.contains("credentials/swift-keychain.key' does not open this vault"), "\(run.errors)")
    }

    /// The device key alone would open what these need.
    @Test(
        .enabled(if: Tool.hasPython, "python3 is not installed"),
        arguments: ["accept", "quarantine restore --all", "quarantine purge --all --yes"])
    func verbOnTheIndex_withAWrongCredentialAndNoDeviceKey_saysThatItIsWrong(verb: String) throws {
        let (vault, environment) = try Self.vault(.wrongCredential)
        try vault.tool.python(
            """
            import sqlite3, sys
            database = sqlite3.connect(sys.argv[1])
            database.execute("INSERT INTO quarantine SELECT *, 7.5 FROM item")
            database.commit()
            """)
        try FileManager.default.removeItem(at: vault.tool.deviceKey)
        let run = try vault.tool.shell("\(environment) setsid --wait \"$CTL\" \(verb)")
        #expect(run.status == 7, "\(run.errors)")
        #expect(run.errors.contains("credentials/swift-keychain.key' does not open this vault"), "\(run.errors)")
    }

    @Test func unlock_withAWrongCredentialAndNobodyToAsk_saysHowToGiveAnotherSecret() throws {
        let (vault, environment) = try Self.vault(.wrongCredential)
        let run = try vault.tool.shell("\(environment) setsid --wait \"$CTL\" unlock")
        #expect(run.errors.contains("--recovery-key-fd 3") && !run.errors.contains("--passphrase-fd"), "\(run.errors)")
    }

    /// The credential is not why the given secret fails.
    @Test func rotate_withAWrongCredentialAndAWrongSecret_namesTheSecret() throws {
        let (vault, environment) = try Self.vault(.wrongCredential)
        let other = try LockableTool()
        let run = try vault.tool.shell(
            "\(environment) \"$CTL\" rotate --recovery-key-fd 3 3< '\(other.keyOnPaper.path)'")
        #expect(run.status == 7 && run.errors.contains("The recovery key does not open this vault"), "\(run.errors)")
        #expect(!run.errors.contains("swift-keychain.key"))
    }

    @Test func statusAndDoctor_withAWrongCredential_sayThatItIsWrong() throws {
        let (vault, environment) = try Self.vault(.wrongCredential)
        let status = try vault.tool.shell("\(environment) \"$CTL\" status")
        #expect(status.text.contains("credential    wrong: "), "\(status.text)")
        let doctor = try vault.tool.shell("\(environment) \"$CTL\" doctor")
        #expect(doctor.status == 1)
        #expect(doctor.text.contains("problem  credential: "), "\(doctor.text)")
    }

    @Test func statusAndDoctor_withTheRightCredential_sayNothingOfIt() throws {
        let (vault, environment) = try Self.vault(.credential)
        #expect(try !vault.tool.shell("\(environment) \"$CTL\" status").text.contains("wrong: "))
        #expect(try vault.tool.shell("\(environment) \"$CTL\" doctor").status == 0)
    }

    @Test func get_withAWrongCredentialAndTheSecret_works() throws {
        let (vault, environment) = try Self.vault(.wrongCredential)
        let run = try vault.tool.shell("\(environment) \"$CTL\" get -s example.com --recovery-key-fd 3 3< paper")
        #expect(run.output == secret, "\(run.errors)")
    }
}
