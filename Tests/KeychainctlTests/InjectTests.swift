// SPDX-License-Identifier: Apache-2.0
// `inject`: what a template becomes, and that nothing is written otherwise.

import Foundation
import Testing

@Suite("inject")
struct InjectTests {
    private let tool: Tool

    init() throws {
        tool = try Tool()
        try tool.store()
    }

    private func inject(_ template: String) throws -> Tool.Run { try tool.run("inject", input: Data(template.utf8)) }

    @Test(arguments: [
        ("a={{ keychain://example.com/alice }}\n", "a=correct horse\n"),
        ("{{keychain://example.com/alice}}", "correct horse"),
        ("a=keychain://example.com/alice", "a=correct horse"), ("'keychain://example.com/alice',", "'correct horse',"),
        ("{{ other }} {{{}}}", "{{ other }} {{{}}}"), ("", ""),
        ("{{{ keychain://example.com/alice }}}", "{correct horse}"),
        ("xkeychain://example.com/alice", "xkeychain://example.com/alice"),
        ("keychain://example.com/alice keychain://example.com/alice", "correct horse correct horse"),
    ])
    func template_withReferences_isFilled(template: String, result: String) throws {
        let run = try inject(template)
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.text == result)
    }

    @Test func template_thatIsMissing_isNamedInQuotes() throws {
        #expect(try tool.run("inject", "--in", "missing").errors.contains("Could not read 'missing': "))
    }

    @Test func dash_isStandardInputAndOutput() throws {
        let template = Data("a={{ keychain://example.com/alice }}".utf8)
        let run = try tool.run("inject", "--in", "-", "--out", "-", input: template)
        #expect(run.status == 0 && run.text == "a=correct horse", "\(run.errors)")
        #expect(try tool.run("inject", "--out", "-", "--replace", input: template).status == 64)
    }

    /// A composed "é" and a decomposed one.
    @Test func references_whoseNamesOnlyLookTheSame_getTheirOwnValues() throws {
        try tool.store(Data("composed".utf8), account: "caf\u{E9}")
        try tool.store(Data("decomposed".utf8), account: "cafe\u{301}")
        let run = try inject("keychain://example.com/caf\u{E9} keychain://example.com/cafe\u{301}")
        #expect(run.text == "composed decomposed", "\(run.errors)")
    }

    @Test func fields_whoseNamesOnlyLookTheSame_haveTheirOwnValues() throws {
        try tool.store(Data("{\"caf\u{E9}\":\"composed\",\"cafe\u{301}\":\"decomposed\"}".utf8), account: "json")
        let run = try inject("keychain://example.com/json#caf\u{E9} keychain://example.com/json#cafe\u{301}")
        #expect(run.text == "composed decomposed", "\(run.errors)")
    }

    @Test func template_ofOtherBytes_staysAsItIs() throws {
        let bytes = Data(0...255)
        #expect(try tool.run("inject", input: bytes).output == bytes)
    }

    @Test(arguments: [
        ("\n\n{{ keychain://s/missing }}", 3, "Line 3"), ("\n{{ keychain://example.com/alice\n}}", 64, "Line 2"),
        ("keychain://example.com", 64, "Line 1"),
    ])
    func template_withAReferenceToNothing_writesNothing(template: String, status: Int32, words: String) throws {
        let run = try inject("keychain://example.com/alice" + template)
        #expect(run.status == status, "\(run.errors)")
        #expect(run.output.isEmpty)
        #expect(run.errors.contains(words) && !run.errors.contains("correct horse"))
    }

    @Test func file_thatIsWritten_isPrivate() throws {
        let run = try tool.shell(
            "umask 0; echo keychain://example.com/alice > in; \"$CTL\" inject --in in --out out; stat -c %a out; cat out"
        )
        #expect(run.text == "600\ncorrect horse\n", "\(run.errors)")
    }

    @Test func file_thatExists_isKept() throws {
        let run = try tool.shell(
            "echo old > out; echo keychain://example.com/alice | \"$CTL\" inject --out out; echo $?; cat out")
        #expect(run.text == "4\nold\n")
    }

    @Test func file_thatExistsAndIsToBeReplaced_hasTheNewContentAndMode() throws {
        let run = try tool.shell(
            "echo old > out; echo keychain://example.com/alice | \"$CTL\" inject --out out --replace; stat -c %a out; cat out; ls -A | grep unfinished"
        )
        #expect(run.text == "600\ncorrect horse\n", "\(run.errors)")
    }

    @Test(.enabled(if: Tool.hasStrace, "strace cannot trace here"), arguments: ["", "--replace"])
    func file_whoseWriterIsKilledBeforeItHasItsName_leavesNothing(options: String) throws {
        let run = try tool.shell(
            """
            mkdir there; echo keychain://example.com/alice > in
            strace -f -qq -o trace -e 'inject=?link,linkat,?rename,?renameat,renameat2:signal=KILL:when=1' \
                "$CTL" inject --in in --out there/out \(options); echo $?; ls -A there
            """)
        #expect(run.text == "137\n", "\(run.everything)")
    }

    /// The vault would be gone, or nothing would open it.
    @Test(
        .enabled(if: Tool.has("openssl"), "openssl is not installed"),
        arguments: [
            "\"$CTL\" inject --in in --replace --out", "\"$CTL\" security export -t certs -o",
            "\"$CTL\" key export --tag t --clear-text --replace",
        ])
    func file_inThePlaceOfOneOfTheVault_isRefused(command: String) throws {
        try tool.must("\"$CTL\" key generate --tag t; echo keychain://example.com/alice > in")
        try tool.must("ln -s ~/.config/swift-keychain folder")
        try tool.must(
            "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout k -subj /CN=a -out c 2> errors"
        )
        try tool.must("\"$CTL\" certificate import c")
        let folder = ".local/share/swift-keychain"
        try tool.must(
            "HOME=$PWD/other; mkdir other; printf v | KEYCHAIN_VAULT=$PWD/vault KEYCHAIN_DEVICE_KEY=$PWD/other/key \"$CTL\" set -s s -a a"
        )
        for path in [
            "vault/vault.db", "vault/new", "\(folder)/vault.db", "\(folder)/new", ".config/swift-keychain/device.key",
            "folder/device.key",
        ] {
            let arguments =
                command.contains("key export")
                ? command.replacingOccurrences(of: "export", with: "export \(path)") : "\(command) \(path)"
            let run = try tool.shell(arguments)
            let isSaid = ["inside the vault's folder", "folder of another vault", "the vault's device key"].contains {
                run.errors.contains($0)
            }
            #expect(run.status != 0 && isSaid, "\(path): \(run.everything)")
        }
        #expect(try tool.shell("\"$CTL\" get -s example.com -a alice; ls \(folder)").text.hasPrefix("correct horse"))
        #expect(!FileManager.default.fileExists(atPath: tool.home.appendingPathComponent(folder + "/new").path))
    }

    /// Nothing would open the vault any more.
    @Test(
        .enabled(if: Tool.has("openssl"), "openssl is not installed"),
        arguments: [
            "inject --in in --out kf", "export kf --file-passphrase-fd 3", "key export kf --tag t --clear-text",
            "certificate export kf --name a", "identity export kf --name a --file-passphrase-fd 3",
        ])
    func file_inThePlaceOfTheKeyFileThatOpensTheVault_isRefused(command: String) throws {
        try tool.must("\"$CTL\" key generate --tag t; echo keychain://example.com/alice > in")
        try tool.must(
            "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout k -subj /CN=a -out c 2> errors"
        )
        try tool.must("\"$CTL\" certificate import c; \"$CTL\" key import k --tag i")
        try tool.must("head -c 64 /dev/urandom > kf; chmod 600 kf; cp kf old")
        try tool.must("\"$CTL\" protect add key-file --new-key-file kf")
        let run = try tool.shell("echo a long passphrase > p; \"$CTL\" \(command) --replace --key-file kf 3< p")
        #expect(run.errors.contains("is the key file that opens the vault"), "\(run.everything)")
        #expect(try tool.shell("cmp kf old").status == 0)
    }

    /// Only what takes the place of another file has a name before.
    @Test(.enabled(if: Tool.hasStrace, "strace cannot trace here"))
    func file_thatReplacesNothing_isNeverRenamed() throws {
        let run = try tool.shell(
            """
            mkdir there; echo keychain://example.com/alice > in
            strace -f -qq -o trace -e 'inject=?rename,?renameat,renameat2:signal=KILL:when=1' \
                "$CTL" inject --in in --out there/out --replace; echo $?; ls -A there
            """)
        #expect(run.text == "0\nout\n", "\(run.everything)")
    }

    @Test(.enabled(if: geteuid() != 0, "root may read every folder"))
    func file_inAFolderThatMayBeWrittenAndNotRead_isWritten() throws {
        let run = try tool.shell(
            """
            mkdir -m 300 there; echo keychain://example.com/alice | "$CTL" inject --out there/out; echo $?
            chmod 700 there; cat there/out
            """)
        #expect(run.text == "0\ncorrect horse\n", "\(run.everything)")
    }

    /// Such as vfat and exFAT, which have no nameless files either. For any other user, strace cannot tell what the tool's paths are.
    @Test(.enabled(if: Tool.hasStrace && geteuid() == 0, "not root, or strace cannot trace here"))
    func file_onAFileSystemWithoutHardLinks_isWritten() throws {
        let run = try tool.shell(
            """
            mkdir there; there=$(cd there; pwd -P); echo keychain://example.com/alice > in
            strace -f -qq -o trace -P "$there" -P "$there/out" -e inject=openat:error=EOPNOTSUPP:when=2 \
                -e 'inject=?link,linkat:error=EPERM' "$CTL" inject --in in --out "$there/out"
            grep -c EPERM trace; ls -A there; cat there/out
            """)
        #expect(run.text == "1\nout\ncorrect horse\n", "\(run.everything)")
    }

    /// The folders of build machines are often like this.
    @Test func file_inAFolderThatEveryUserMayChange_isWrittenAndPrivate() throws {
        let run = try tool.shell(
            """
            mkdir -m 777 there; echo keychain://example.com/alice > in
            "$CTL" inject --in in --out there/out; stat -c %a there/out
            """)
        #expect(run.text == "600\n", "\(run.everything)")
    }

    @Test func file_withAReferenceToNothing_doesNotAppear() throws {
        let run = try tool.shell("echo keychain://s/missing | \"$CTL\" inject --out out; echo $?; ls -A")
        #expect(run.text.hasPrefix("3\n") && !run.text.contains("out"))
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full"), "there is no /dev/full"))
    func output_thatIsFull_isAnError() throws {
        #expect(try tool.shell("echo keychain://example.com/alice | \"$CTL\" inject > /dev/full").status == 17)
    }

    @Test func template_withoutEnd_isTooLarge() throws {
        #expect(try tool.shell("\"$CTL\" inject < /dev/zero").status == 18)
    }
}
