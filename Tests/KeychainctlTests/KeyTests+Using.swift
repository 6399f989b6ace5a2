// SPDX-License-Identifier: Apache-2.0
// `key`: exporting and signing, and when the vault is locked.

import Foundation
import Testing

extension KeyTests {
    // MARK: - Exporting

    @Test(arguments: ["p384", "ed25519"])
    func export_withAPassphrase_isReadByOpenSSLWithIt(type: String) throws {
        try shell(
            """
            "$CTL" key generate \(type) --tag t 2>&1; "$CTL" key public --tag t > pem; echo 'correct horse' > pass
            "$CTL" key export file --tag t --file-passphrase-fd 3 3< pass
            grep -q 'BEGIN ENCRYPTED PRIVATE KEY' file; test "$(stat -c %a file)" = 600
            openssl pkey -in file -passin file:pass -pubout | cmp - pem
            ! openssl pkey -in file -passin pass:wrong -noout 2> /dev/null
            """)
        try shell("\"$CTL\" key import file --tag again --file-passphrase-fd 3 3< pass 2>&1")
        #expect(try Set(keys().map { $0["fingerprint"] as? String }).count == 1)
    }

    @Test func export_inClearText_isReadBySSHKeygen() throws {
        try shell(
            """
            "$CTL" key generate p256 --tag t 2>&1; "$CTL" key public --tag t --openssh > pub
            "$CTL" key export --tag t --clear-text > file; chmod 600 file; ssh-keygen -y -f file > again
            cut -d ' ' -f 1,2 pub | cmp - again
            """)
    }

    @Test func export_ontoAFileThatExists_keepsItUnlessItIsToBeReplaced() throws {
        try shell("\"$CTL\" key generate p256 --tag t 2>&1; echo old > file")
        let refused = try tool.shell("\"$CTL\" key export file --tag t --clear-text")
        #expect(refused.status == 4)
        #expect(try shell("cat file") == "old\n")
        let replaced = try tool.shell("\"$CTL\" key export file --tag t --clear-text --replace; grep -c PRIVATE file")
        #expect(replaced.text == "2\n" && replaced.errors.contains("clear text"), "\(replaced.everything)")
    }

    @Test func export_withoutAWayToAsk_writesNothing() throws {
        try shell("\"$CTL\" key generate p256 --tag t 2>&1")
        let run = try tool.shell("KEYCHAIN_AUTHENTICATOR=none \"$CTL\" key export file --tag t; ls file")
        #expect(run.errors.contains("--file-passphrase-fd") && run.text.isEmpty, "\(run.everything)")
    }

    @Test(.enabled(if: Tool.hasPython, "python3 is not installed"))
    func export_toATerminal_isRefused() throws {
        try shell("\"$CTL\" key generate p256 --tag t 2>&1")
        let dialogue = try tool.dialogue("key", "export", "--tag", "t", "--clear-text")
        #expect(dialogue.status == 64 && !dialogue.screen.contains("BEGIN"), "\(dialogue.screen)")
    }

    @Test(.enabled(if: Tool.hasPython, "python3 is not installed"))
    func export_onATerminal_asksTwiceForThePassphrase() throws {
        try shell("\"$CTL\" key generate p256 --tag t 2>&1")
        let dialogue = try tool.dialogue(
            "key", "export", "file", "--tag", "t",
            steps: [("New passphrase", .type("correct horse\n")), ("again", .type("correct horse\n"))])
        #expect(dialogue.status == 0 && !dialogue.screen.contains("horse"), "\(dialogue.screen)")
        try shell("echo 'correct horse' > pass; openssl pkey -in file -passin file:pass -noout")
    }

    // MARK: - Signing

    @Test(arguments: [
        ("p256", "", "dgst -sha256"), ("p384", "", "dgst -sha384"), ("p521", "", "dgst -sha512"),
        ("rsa-2048", "", "dgst -sha256"),
        ("rsa-2048", "--algorithm rsa-pss-sha512", "dgst -sha512 -sigopt rsa_padding_mode:pss"),
        ("p256", "--algorithm ecdsa-sha512", "dgst -sha512"),
    ])
    func signature_ofAFile_isVerifiedByOpenSSLAndByTheTool(type: String, options: String, verify: String) throws {
        try shell(
            """
            "$CTL" key generate \(type) --tag t 2>&1; "$CTL" key public --tag t > pem; head -c 200000 /dev/urandom > file
            "$CTL" key sign --tag t \(options) file > sig; openssl \(verify) -verify pem -signature sig file
            "$CTL" key verify --tag t \(options) --signature sig < file 2>&1
            """)
        let other = try tool.shell("echo more >> file; \"$CTL\" key verify --tag t \(options) --signature sig file")
        #expect(other.status == 7 && other.output.isEmpty, "\(other.everything)")
    }

    @Test func signature_ofEd25519_isVerifiedBothWays() throws {
        try shell(
            """
            openssl genpkey -algorithm ED25519 -out key; "$CTL" key import key --tag t 2>&1; echo message > file
            "$CTL" key sign --tag t < file > sig; openssl pkey -in key -pubout -out pem
            openssl pkeyutl -verify -pubin -inkey pem -rawin -in file -sigfile sig
            openssl pkeyutl -sign -inkey key -rawin -in file -out own; cmp sig own
            "$CTL" key sign --tag t --base64 file > text; base64 -d text | cmp - sig
            "$CTL" key verify --tag t --signature text file 2>&1
            """)
    }

    @Test func signature_ofOpenSSL_isVerified() throws {
        try shell(
            """
            openssl ecparam -name prime256v1 -genkey -noout -out key; "$CTL" key import key --tag t 2>&1; echo message > file
            openssl dgst -sha256 -sign key -out sig file; "$CTL" key verify --tag t --signature sig file 2>&1
            """)
        for change in ["head -c 20 sig > cut", ": > cut", "echo text > cut"] {
            #expect(try tool.shell("\(change); \"$CTL\" key verify --tag t --signature cut file").status == 7)
        }
    }

    @Test func signature_inRawForm_hasTwoNumbersOfFullWidth() throws {
        try shell("\"$CTL\" key generate p521 --tag t 2>&1; \"$CTL\" key sign --tag t --raw > sig < /dev/null")
        #expect(try shell("stat -c %s sig") == "132\n")
        #expect(try tool.shell("\"$CTL\" key verify --tag t --raw --signature sig < /dev/null").status == 0)
        #expect(try tool.shell("\"$CTL\" key verify --tag t --signature sig < /dev/null").status == 7)
    }

    @Test(arguments: [
        ("p256", "--algorithm ed25519"), ("p256", "--algorithm rsa-sha256"), ("ed25519", "--algorithm ecdsa-sha256"),
        ("ed25519", "--raw"), ("x25519", ""),
    ])
    func signature_thatTheKeyDoesNotMake_isUnsupported(type: String, options: String) throws {
        try shell("\"$CTL\" key generate \(type) --tag t 2>&1")
        let run = try tool.shell("\"$CTL\" key sign --tag t \(options) < /dev/null")
        #expect(run.status == 14 && run.output.isEmpty, "\(run.everything)")
    }

    // MARK: - Locked

    @Test func key_inALockedVault_isNotUsed() throws {
        let vault = try LockableTool()
        let made = try vault.withKey("key generate p256 --tag t")
        #expect(made.status == 0, "\(made.errors)")
        for words in ["list", "public --tag t", "sign --tag t", "export --tag t --clear-text", "generate p256 --tag u"]
        {
            let run = try vault.tool.shell("\"$CTL\" lock; \"$CTL\" key \(words) < /dev/null")
            #expect(run.status == 5 && run.output.isEmpty, "\(words): \(run.everything)")
        }
        #expect(try vault.withKey("key list").text.contains("SHA256:"))
    }
}
