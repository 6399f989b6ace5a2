// SPDX-License-Identifier: Apache-2.0
// `ssh-agent` over a vault in which several items contain the same key.

import Foundation
import KeychainEngine
import KeychainKeyStore
import KeychainKeys
import KeychainTestSupport
import KeychainVault
import SecretMemory
import Testing

@Suite(
    "ssh-agent with a key of several items",
    .enabled(if: Tool.hasKeyPrograms, "openssl or ssh-keygen is not installed"))
struct SSHAgentDuplicateTests {
    private static let server = Programs.installed("sshd")
    private static let checked = "\(AgentScript.sign); ssh-keygen -q -Y check-novalidate -n test -s file.sig < file"

    /// The synchronizable item is left.
    @Test func key_ofSeveralTags_isListedOnceAndSignsWhileOneIsLeft() throws {
        let tool = try Tool()
        let run = try tool.shellWithAgent(
            """
            \(AgentScript.make())
            for tag in a b; do "$CTL" key import key --tag $tag; "$CTL" key import key --tag $tag --access-group other; done > /dev/null
            "$CTL" key import key --tag c --synchronizable > /dev/null; rm key
            ssh-add -l | wc -l; \(Self.checked); rm file.sig
            for tag in a b; do for group in default other; do "$CTL" key delete --tag $tag --access-group $group; done; done
            ssh-add -l | wc -l; \(Self.checked); test ! -s log
            """)
        #expect(run.status == 0 && run.text == "1\n1\n", "\(run.everything)")
    }

    /// A server counts each key that is offered, and by default refuses a client after six.
    @Test(.enabled(if: server != nil && geteuid() == 0, "not root, or openssh-server is not installed"))
    func ssh_withAKeyBehindOneOfManyTags_logsInToAServer() throws {
        let (tool, server) = (try Tool(), try #require(Self.server))
        let run = try tool.shellWithAgent(
            """
            mkdir -p /run/sshd; for name in host one right; do ssh-keygen -q -t ed25519 -N '' -C '' -f $name; done
            for tag in 1 2 3 4 5 6 7 8; do "$CTL" key import one --tag $tag > /dev/null; done
            "$CTL" key import right --tag z > /dev/null; mv right.pub keys; chmod 600 keys; rm one right
            proxy="\(server) -i -e -f /dev/null -o HostKey=$PWD/host -o AuthorizedKeysFile=$PWD/keys -o StrictModes=no"
            proxy="$proxy -o PermitRootLogin=yes -o UsePAM=no -o PasswordAuthentication=no -o KbdInteractiveAuthentication=no"
            ssh -F none -o ProxyCommand="$proxy -o MaxAuthTries=2" -o StrictHostKeyChecking=no -o UserKnownHostsFile=known \\
              -o BatchMode=yes -o PreferredAuthentications=publickey root@keychain echo in 2> err || { cat err >&2; exit 1; }
            """)
        #expect(run.status == 0 && run.text == "in\n", "\(run.everything)")
    }

    /// With several items of each kind: which one comes first in the list depends on their tags.
    @Test func key_ofAnItemThatIsOpenAndOneThatIsLocked_signsInALockedVault() throws {
        let vault = try LockableTool()
        try vault.unlock()
        let run = try vault.tool.shellWithAgent(
            """
            \(AgentScript.make()); "$CTL" key import key --tag a > /dev/null; "$CTL" key import key --tag d > /dev/null
            for tag in b c; do "$CTL" key import key --tag $tag --accessibility always > /dev/null; done; rm key
            "$CTL" lock; ssh-add -l | wc -l; \(Self.checked); cat log
            """)
        #expect(run.status == 0 && run.text.hasPrefix("1\n"), "\(run.everything)")
        #expect(run.text.components(separatedBy: "locked").count == 2, "\(run.text)")
    }

    /// The tool has no such token. Which item comes first in the list depends on the tags.
    @Test(arguments: ["a", "z"])
    func key_thatATokenHoldsAsWell_signsWithoutTheToken(tag: String) throws {
        let (tool, token) = (try Tool(), TokenDouble())
        let key = try PrivateKey.generate(.p256)
        try tool.write(key.pem().withUnsafeBytes { Data($0) }, to: "key")
        let stored = try tool.run("key", "import", "key", "--tag", tag)
        try #require(stored.status == 0, "\(stored.everything)")
        var settings = VaultSettings()
        settings.unlockCache = .process
        let location = try VaultLocation(folder: tool.vaultFolder.path, deviceKeyFile: tool.deviceKey.path)
        var keys = KeyStore(store: Vault(location, settings))
        keys.tokens = KeyTokens()
        try keys.tokens.use(token)
        try token.plant(key.externalRepresentation.withUnsafeBytes { Data($0) })
        try keys.create(.p256, tag: "m", label: "Mine", protection: .hardware)
        let run = try tool.shellWithAgent(
            """
            "$CTL" key public --tag m --openssh > pub; echo message > file; ssh-add -l | wc -l; \(Self.checked)
            """)
        #expect(run.status == 0 && run.text == "1\n", "\(run.everything)")
    }
}
