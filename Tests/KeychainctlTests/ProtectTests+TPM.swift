// SPDX-License-Identifier: Apache-2.0
// A TPM as a protector: a real one in software, which each script starts.

import Foundation
import KeychainTestSupport
import Testing

extension ProtectTests {
    /// A script with a TPM, the files `pin` and `wrong`, and a function that tells what a verb says and how it ends.
    private func script(_ lines: String) -> String {
        Tool.scriptWithTPM(
            """
            says() { "$CTL" "$@" 2>&1 || echo "status $?"; }
            printf 2580 > pin; printf 1111 > wrong
            \(lines)
            """)
    }

    @Test(.enabled(if: Tool.hasTPM && Tool.hasPython, Tool.tpmIsMissing))
    func pin_isAskedForTwiceWhenItIsMadeOrChanged_andOnceWhenItIsUsed() throws {
        try vault.store()
        let made = try tool.dialogue(
            script(
                """
                "$CTL" protect add tpm2 --pin --recovery-key-fd 3 3< paper &&
                "$CTL" protect change tpm2 --recovery-key-fd 3 3< paper && "$CTL" get -s example.com --tpm2
                """),
            program: ["/bin/sh", "-c"],
            steps: [
                ("New PIN of the TPM: ", .type("1379\n")), ("Enter it again: ", .type("1379\n")),
                ("New PIN of the TPM: ", .type("2580\n")), ("Enter it again: ", .type("2580\n")),
                ("PIN of the TPM: ", .type("2580\n")),
            ])
        #expect(made.status == 0, "\(made.screen)")
        #expect(made.screen.contains(String(decoding: secret, as: UTF8.self)))
        #expect(!made.screen.contains("2580"))
    }

    /// The shell of the script survives ^C, to end the TPM.
    @Test(
        .enabled(if: Tool.hasTPM && Tool.hasPython, Tool.tpmIsMissing),
        arguments: [
            ("protect add tpm2 --pin --recovery-key-fd 3 3< paper", ["New PIN of the TPM: "]),
            ("protect add tpm2 --pin --recovery-key-fd 3 3< paper", ["New PIN of the TPM: ", "Enter it again: "]),
            ("get -s example.com --tpm2", ["PIN of the TPM: "]),
        ])
    func promptForAPIN_withControlC_endsByTheSignalAndChangesNothing(command: String, prompts: [String]) throws {
        try vault.store()
        let keys = prompts.indices.map { $0 < prompts.count - 1 ? "2580\n" : "\u{3}" }
        let isThere = command.hasPrefix("get")
        let making = "\"$CTL\" protect add tpm2 --new-pin-fd 4 --recovery-key-fd 3 3< paper 4< pin"
        let dialogue = try tool.dialogue(
            script("\(isThere ? making : ":"); trap : INT; \"$CTL\" \(command); echo \"code $?\""),
            program: ["/bin/sh", "-c"], steps: zip(prompts, keys).map { ($0, .type($1)) })
        #expect(dialogue.screen.contains("code 130\r\n") && dialogue.hasEcho, "\(dialogue.screen)")
        #expect(!dialogue.screen.contains("correct horse"))
        #expect(try tool.words() == ["recovery-key"] + (isThere ? ["tpm2"] : []))
    }

    @Test(.enabled(if: Tool.hasTPM, Tool.tpmIsMissing))
    func tpm_withAPIN_opensTheVaultOnlyWithIt() throws {
        try vault.store()
        let run = try tool.shell(
            script(
                """
                says protect add tpm2 --new-pin-fd 4 --recovery-key-fd 3 3< paper 4< pin
                says protect list --json | grep -o '"word":"tpm2"'
                says get -s example.com --tpm2 --pin-fd 4 4< pin; echo
                says get -s example.com --tpm2 --pin-fd 4 4< wrong
                says get -s example.com --tpm2 --pin-fd 4 4< pin
                """))
        let lines = run.text.split(separator: "\n").map(String.init)
        try #require(lines.count == 5, "\(run.everything)")
        #expect(lines[0] == "\"word\":\"tpm2\"")
        #expect(lines[1] == String(decoding: secret, as: UTF8.self))
        #expect(lines[2].contains("The PIN is wrong."))
        #expect(lines[3] == "status 7")
        #expect(lines[4] == lines[1])
    }

    @Test(.enabled(if: Tool.hasTPM, Tool.tpmIsMissing))
    func tpm_thatIsAnother_opensNothing_andTheRecoveryKeyStillDoes() throws {
        try vault.store()
        let run = try tool.shell(
            script(
                """
                says protect add tpm2 --recovery-key-fd 3 3< paper
                says get -s example.com --tpm2; echo
                stop; rm -rf tpm; start
                says get -s example.com --tpm2
                says get -s example.com --recovery-key-fd 3 3< paper; echo
                says protect change tpm2 --recovery-key-fd 3 3< paper
                says get -s example.com --tpm2; echo
                stop; says get -s example.com --tpm2
                """))
        let lines = run.text.split(separator: "\n").map(String.init)
        let value = String(decoding: secret, as: UTF8.self)
        try #require(lines.count == 7, "\(run.everything)")
        #expect(lines[0] == value)
        #expect(lines[1].contains("recovery key") && lines[1].contains("keychainctl protect change tpm2"))
        #expect(lines[2] == "status 20")
        #expect(lines[3...4] == [value, value])
        #expect(lines[6] == "status 13")
    }

    @Test(.enabled(if: Tool.hasTPM, Tool.tpmIsMissing))
    func tpm_isNeverAlone() throws {
        let run = try tool.shell(
            script(
                """
                says protect add tpm2 --recovery-key-fd 3 3< paper
                says protect remove recovery-key --erase-items --recovery-key-fd 3 3< paper | tail -n 1
                says protect remove tpm2 --recovery-key-fd 3 3< paper
                says protect list --json | grep -c tpm2
                KEYCHAIN_VAULT="$PWD/other" KEYCHAIN_DEVICE_KEY="$PWD/other.key" says protect add tpm2 | tail -n 1
                test -e other/vault.db || test -e other.key || echo nothing
                """))
        #expect(run.text == "status 14\n0\nstatus 14\nnothing\n", "\(run.everything)")
    }

    /// Another TPM has the same name, and not the key.
    @Test(.enabled(if: Tool.hasTPM, Tool.tpmIsMissing))
    func key_inATPM_signsOnlyThere() throws {
        let run = try tool.shell(
            script(
                """
                export KEYCHAIN_VAULT="$PWD/other" KEYCHAIN_DEVICE_KEY="$PWD/other.key"
                says key generate p256 --tag t --token
                printf message > message; "$CTL" key public --tag t > public.pem
                "$CTL" key sign --tag t < message > signature
                openssl dgst -sha256 -verify public.pem -signature signature message
                says key export --tag t --clear-text | grep -c PRIVATE
                says key generate p256 --tag t --token
                stop; rm -rf tpm; start
                says key sign --tag t < message
                """))
        let lines = run.text.split(separator: "\n").map(String.init)
        try #require(lines.count >= 6, "\(run.everything)")
        #expect(lines[0].contains("on the token 'tpm'"))
        #expect(lines[1] == "Verified OK")
        #expect(lines[2] == "0")
        #expect(lines[3].contains("--token does not replace keys") && lines[3].contains("keychainctl key delete"))
        #expect(lines[4] == "status 4")
        #expect(lines.last == "status 20", "\(run.everything)")
    }

    @Test(
        .enabled(
            if: Tool.hasTPM && Tool.hasKeyPrograms, "swtpm, its library, openssl or ssh-keygen is not installed"))
    func key_inATPM_isListedAndSignsThroughTheAgent() throws {
        let run = try tool.shell(
            script(
                """
                export KEYCHAIN_VAULT="$PWD/other" KEYCHAIN_DEVICE_KEY="$PWD/other.key"
                says key generate p256 --tag t --token > made
                "$CTL" key public --tag t --openssh > pub; echo message > file
                mkfifo out; "$CTL" ssh-agent --socket "$PWD/s" > out 2> log & agent=$!
                trap 'kill $agent; wait $agent; stop' EXIT
                read -r line < out; eval "$line"; ssh-add -l
                ssh-keygen -q -Y sign -n test -f pub file
                ssh-keygen -q -Y check-novalidate -n test -s file.sig < file; echo $?
                stop; rm -rf tpm file.sig; start
                ssh-keygen -q -Y sign -n test -f pub file 2> /dev/null || echo refused
                test -e file.sig || echo unsigned; wc -l < log
                """))
        let lines = run.text.split(separator: "\n")
        try #require(lines.count == 5, "\(run.everything)")
        #expect(lines[0].contains(" t ") && lines[0].hasSuffix("(ECDSA)"))
        #expect(lines[1...] == ["0", "refused", "unsigned", "1"], "\(run.everything)")
    }

    @Test(arguments: [
        "protect add passphrase --pin", "protect add tpm2 --new-key-file key", "unlock --pin-fd 3",
        "unlock --tpm2 --recovery-key", "protect add tpm2 --new-pin-fd x",
    ])
    func tpmOptions_withOtherKinds_areUsage(line: String) throws {
        #expect(try tool.shell("\"$CTL\" \(line)").status == 64)
    }
}
