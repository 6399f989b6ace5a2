// SPDX-License-Identifier: Apache-2.0
// A user whose quota of kernel keys is used up.

import Foundation
import KeychainTestSupport
import Testing

/// Only for a user other than root, whose quota is large, who runs nothing else.
private let canUseAnotherUser: Bool = {
    do {
        return try Tool.hasKeyring && OtherUser().run("echo yes").text == "yes\n"
    } catch {
        return false
    }
}()

/// A user without a name, with a home folder and copies of the programs there.
private final class OtherUser {
    private let tool: Tool
    private static let number: UInt32 = 64_204

    init() throws {
        tool = try Tool()
        for program in [Tool.executable, Exerciser.path] {
            try OtherUsers.install(program, into: tool.home.path)
        }
        try #require(chown(tool.home.path, Self.number, Self.number) == 0)
    }

    /// Runs a script in the home folder.
    func run(_ script: String) throws -> Tool.Run {
        let user = "setpriv --reuid=\(Self.number) --regid=\(Self.number) --clear-groups"
        return try tool.shell("cat > script; \(user) sh script", input: Data(script.utf8))
    }
}

@Suite(
    "A user's quota of kernel keys",
    .enabled(
        if: geteuid() == 0 && canUseAnotherUser, "not root, or no other user can run what was built, or no keyring"))
struct KeyringQuotaTests {
    /// The last of the keys that fit leaves no byte. They are removed when the script ends.
    private static let fillingTheQuota = """
        size=16384; count=0
        remove() {
            set --
            while [ $count -gt 0 ]; do set -- "$@" "fill $count"; count=$((count - 1)); done
            ./exerciser key-remove "$@" > removed
        }
        trap remove EXIT
        while [ $size -gt 0 ] && [ $count -lt 300 ]; do
            count=$((count + 1))
            ./exerciser key-store "fill $count" "$(head -c $size /dev/zero | tr '\\0' s)" > filled
            if grep -q failure filled; then size=$((size / 2)); fi
        done
        """

    @Test func unlock_withTheQuotaUsedUp_saysSoAndTheVaultStaysUsable() throws {
        let run = try OtherUser().run(
            """
            echo secret | ./keychainctl set -s example.com -a alice
            ./keychainctl protect add recovery-key > key
            ./keychainctl protect remove device-key --recovery-key-fd 3 3< key
            \(Self.fillingTheQuota)
            cat filled
            ./keychainctl unlock --recovery-key-fd 3 3< key; echo "unlock $?"
            ./keychainctl get -s example.com -a alice; echo "get $?"
            ./keychainctl get -s example.com -a alice --recovery-key-fd 3 3< key
            """)
        #expect(run.text.contains("failure \(EDQUOT)"), "\(run.everything)")
        #expect(run.text.hasSuffix("unlock 9\nget 5\nsecret\n"), "\(run.everything)")
        #expect(run.errors.contains("KEYCHAIN_UNLOCK_CACHE=process"))
    }
}
