// SPDX-License-Identifier: Apache-2.0
// Keys on a token: what the tool shows and refuses if it does not reach or know it, and what a kill leaves behind.

import Foundation
import KeychainEngine
import KeychainKeyStore
import KeychainTestSupport
import KeychainVault
import Testing

@Suite("key on a token")
struct KeyOnTokenTests {
    private let tool: Tool
    private let token = TokenDouble()

    init() throws { tool = try Tool() }

    /// A program with a token makes a key in the vault of the tool.
    private func makeKey() throws {
        try tool.store()
        var settings = VaultSettings()
        settings.unlockCache = .process
        let location = try VaultLocation(folder: tool.vaultFolder.path, deviceKeyFile: tool.deviceKey.path)
        var keys = KeyStore(store: Vault(location, settings))
        keys.tokens = KeyTokens()
        try keys.tokens.use(token)
        try keys.create(.p256, tag: "t", label: "Mine", protection: .hardware)
        try #require(token.keyCount == 1)
    }

    @Test(arguments: [
        ("p256", 13, "TPM"), ("p384", 64, "p256"), ("p256 --synchronizable", 64, "--synchronizable"),
        ("p256 --replace", 64, "--token does not replace"),
    ])
    func generate_onAToken_isRefusedAndMakesNoOtherKey(words: String, status: Int32, message: String) throws {
        try tool.store()
        let run = try tool.shell("KEYCHAIN_TPM=swtpm:path=$PWD/none \"$CTL\" key generate \(words) --tag t --token")
        #expect(run.status == status && run.errors.contains(message), "\(run.everything)")
        #expect(try tool.run("key", "list").text.isEmpty)
    }

    @Test func key_onAToken_isShownWithIt() throws {
        try makeKey()
        let list = try tool.run("key", "list")
        #expect(list.text.contains("TOKEN") && list.text.contains("double"), "\(list.everything)")
        let json = try JSONSerialization.jsonObject(with: try tool.run("key", "list", "--json").output)
        let key = try #require((json as? [[String: Any]])?.first)
        #expect(key["token"] as? String == "double" && key["type"] as? String == "p256")
        #expect(key["accessibility"] as? String == "whenUnlockedThisDeviceOnly")
        #expect(list.text.contains(try #require(key["fingerprint"] as? String)))
        #expect(try tool.run("key", "public", "--tag", "t").text.hasPrefix("-----BEGIN PUBLIC KEY-----"))
    }

    @Test func key_onATokenOfAnotherProgram_isNeitherExportedNorUsed() throws {
        try makeKey()
        for (words, message) in [
            ("export --tag t --clear-text", "gives no key out"), ("sign --tag t", "no such token"),
        ] {
            let run = try tool.shell("printf message | \"$CTL\" key \(words)")
            #expect(run.status == 14 && run.output.isEmpty && run.errors.contains(message), "\(run.everything)")
        }
        let run = try tool.shell("\"$CTL\" export items.json --clear-text json && cat items.json")
        #expect(run.status == 0 && !run.text.contains("toid") && run.text.contains("\"class\""), "\(run.everything)")
        #expect(run.errors.contains("Keys on a token, which nothing exports: 1."))
        #expect(try tool.run("key", "delete", "--tag", "t").status == 0)
        #expect(try tool.run("key", "list").text.isEmpty)
    }

    @Test(.enabled(if: Tool.hasKeyPrograms, "openssl or ssh-keygen is not installed"))
    func key_onATokenOfAnotherProgram_isListedByTheAgentAndSignsNothing() throws {
        try makeKey()
        let run = try tool.shellWithAgent(
            """
            ssh-add -l; "$CTL" key public --tag t --openssh > pub; echo message > file
            fails ssh-keygen -q -Y sign -n test -f pub file; test ! -e file.sig; cat log
            """)
        #expect(run.status == 0 && run.text.contains("(ECDSA)"), "\(run.everything)")
        #expect(run.text.contains("no such token"), "\(run.everything)")
    }

    /// At each third write to the WAL, before the one that commits the item: the TPM has made the key by then.
    @Test(
        .enabled(
            if: Tool.hasTPM && Tool.hasStrace && geteuid() == 0,
            "swtpm is missing, strace cannot trace here, or this is not root"))
    func generation_killedBetweenTheKeyAndItsItem_leavesAWholeVaultAndAFreeTag() throws {
        try tool.store()
        let run = try tool.shell(
            Tool.scriptWithTPM(
                """
                wal="$HOME/.local/share/swift-keychain/vault.db-wal"; call=1; status=137
                while [ $status = 137 ]; do
                    status=0; kill="pwrite64:signal=KILL:when=$call"
                    strace -f -qq -o trace -P "$wal" -e trace=pwrite64 -e inject=$kill \
                        "$CTL" key generate p256 --tag t --token 2> log || status=$?
                    made=$(grep -c '^ 80 02 00 00 .. .. 00 00 01 53' tpm.log)
                    echo "$status $made $("$CTL" key list --json | grep -o '"tag":"t"' | wc -l)"
                    "$CTL" doctor > findings || cat findings; call=$((call + 3))
                done
                echo message > file; "$CTL" key public --tag t > public.pem; "$CTL" get -s example.com; echo
                "$CTL" key sign --tag t < file > signature && openssl dgst -sha256 -verify public.pem -signature signature file
                """))
        let lines = run.text.split(separator: "\n").map(String.init)
        let kills = lines.count - 3
        try #require(kills >= 3, "\(run.everything)")
        for number in 0..<kills { #expect(lines[number] == "137 \(number + 1) 0", "\(run.everything)") }
        #expect(lines[kills...] == ["0 \(kills + 1) 1", "correct horse", "Verified OK"], "\(run.everything)")
    }
}
