// SPDX-License-Identifier: Apache-2.0
// Key files: what may be one, and what is refused.

import Foundation
import Testing

extension ProtectTests {
    private func addKeyFile(_ path: String) throws -> Tool.Run {
        try vault.withKey("protect add key-file --new-key-file '\(path)'")
    }

    @Test func keyFile_added_opensTheVault() throws {
        try vault.store()
        let path = try keyFile()
        #expect(try addKeyFile(path).status == 0)
        #expect(try tool.run("get", "-s", "example.com", "--key-file", path).output == secret)
        #expect(try tool.shell("\"$CTL\" get -s example.com --key-fd 3 3< key").output == secret)
    }

    /// It would still open the vault when one of the two was removed.
    @Test func keyFile_thatOpensTheVaultAlready_isNotAdded() throws {
        let path = try keyFile()
        #expect(try addKeyFile(path).status == 0)
        let run = try addKeyFile(path)
        #expect(run.status == 4 && run.errors.contains("opens the vault already"), "\(run.everything)")
        #expect(try tool.words().sorted() == ["key-file", "recovery-key"])
    }

    @Test func keyFile_changedToThatOfAnotherProtector_isRefused() throws {
        let (path, other) = (try keyFile(), try keyFile("other", bytes: 40))
        for path in [path, other] { #expect(try addKeyFile(path).status == 0) }
        let slot = try #require(try tool.protectors().first { $0["word"] as? String == "key-file" }?["id"] as? String)
        #expect(try vault.withKey("protect change \(slot) --new-key-file '\(other)'").status == 4)
        #expect(try vault.withKey("protect change \(slot) --new-key-file '\(path)'").status == 0)
    }

    /// The new keys are wrapped for the other key file too.
    @Test func keyFile_removedWithTheOtherOneGiven_opensNothingAndTheOtherDoes() throws {
        try vault.store()
        let (path, other) = (try keyFile(), try keyFile("other", bytes: 40))
        for path in [path, other] { #expect(try addKeyFile(path).status == 0) }
        let slot = try #require(try tool.protectors().first { $0["word"] as? String == "key-file" }?["id"] as? String)
        let refused = try vault.withKey("protect remove \(slot)")
        #expect(refused.status == 13 && refused.errors.contains("--other-key-file"), "\(refused.everything)")
        #expect(try vault.withKey("protect remove \(slot) --other-key-file '\(other)'").status == 0)
        #expect(try tool.run("get", "-s", "example.com", "--key-file", path).status == 7)
        #expect(try tool.run("get", "-s", "example.com", "--key-file", other).output == secret)
    }

    @Test func keyFile_openToOthers_isUnsafe() throws {
        #expect(try addKeyFile(keyFile(mode: 0o640)).status == 15)
        #expect(try addKeyFile(keyFile("other", mode: 0o604)).status == 15)
    }

    @Test func keyFile_insideTheVaultFolder_isUnsafe() throws {
        let path = vault.tool.vaultFolder.appendingPathComponent("key").path
        _ = FileManager.default.createFile(
            atPath: path, contents: Data(repeating: 7, count: 32), attributes: [.posixPermissions: 0o600])
        let run = try addKeyFile(path)
        #expect(run.status == 15)
        #expect(run.errors.contains("inside the vault folder"))
    }

    @Test func keyFile_thatIsAPipe_isUnsafeAndDoesNotHang() throws {
        #expect(try tool.shell("mkfifo -m 600 pipe; timeout 200 \"$CTL\" unlock --key-file pipe").status == 15)
    }

    @Test func keyFile_thatIsALink_isUnsafe() throws {
        _ = try keyFile()
        #expect(try tool.shell("ln -s key link; \"$CTL\" unlock --key-file link").status == 15)
    }

    @Test func keyFile_withARelativePathInAFolderThatAllMayChange_isUnsafe() throws {
        _ = try keyFile()
        let run = try tool.shell(
            "mkdir shared; cp key shared; chmod 777 shared; cd shared; \"$CTL\" unlock --key-file key")
        #expect(run.status == 15, "\(run.everything)")
    }

    @Test func keyFile_withAPathRelativeToARemovedFolder_isUnsafe() throws {
        _ = try keyFile()
        let run = try tool.shell("mkdir gone; cd gone; rmdir ../gone; \"$CTL\" unlock --key-file ../key")
        #expect(run.status == 15, "\(run.everything)")
    }

    @Test func keyFile_behindALinkWhoseTargetIsNotUTF8_isUnsafe() throws {
        _ = try keyFile()
        let run = try tool.shell(
            """
            target=$(printf 'b\\377'); mkdir "$target"; cp key "$target"; chmod 777 "$target"; ln -s "$target" link
            "$CTL" unlock --key-file "$HOME/link/key"
            """)
        #expect(run.status == 15, "\(run.everything)")
    }

    @Test func keyFile_thatIsMissing_isUnavailable() throws {
        #expect(try tool.run("unlock", "--key-file", "nowhere").status == 13)
    }

    @Test(arguments: [0, 31, 4097])
    func keyFile_ofTheWrongLength_isRefused(bytes: Int) throws {
        let run = try addKeyFile(keyFile(bytes: bytes))
        #expect(run.status == 64)
        #expect(run.errors.contains("32 to 4096"))
    }

    @Test func keyFile_withoutANewOne_isUsage() throws {
        #expect(try vault.withKey("protect add key-file").status == 64)
        #expect(try vault.withKey("protect add recovery-key --new-key-file key").status == 64)
    }
}
