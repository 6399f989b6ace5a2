// SPDX-License-Identifier: Apache-2.0
// security: its name, global flags, help, errors, commands from standard input, and certificates.

import Foundation
import KeychainTestSupport
import Testing

@Suite("security: the tool")
struct SecurityToolTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    static let table: [SecurityRow] = [
        SecurityRow("frob", err: "security: unknown command \"frob\"\n", 1),
        SecurityRow("help frob", err: "security: no such command: frob\n", 1),
        SecurityRow(
            "error -25300", out: "Error: 0xFFFF9D2C -25300 The specified item could not be found in the keychain.\n", 1),
        SecurityRow(
            "error 0xFFFF9D2D -128",
            out: "Error: 0xFFFF9D2D -25299 The specified item already exists in the keychain.\n"
                + "Error: 0xFFFFFF80 -128 User canceled the operation.\n", 1),
        SecurityRow("error 7", out: "Error: 0x00000007 7 OSStatus 7\n", 1),
        SecurityRow("error x", err: "security: error takes numbers, such as -25300 or 0xFFFF9D2C\n", 1),
        SecurityRow("-l error 0", out: "Error: 0x00000000 0 No error.\n", 1),
        SecurityRow("-v error 0", out: "Error: 0x00000000 0 No error.\n", err: "error …\n", 1),
    ]

    @Test(arguments: table)
    func command_writesWhatMacOSWrites(row: SecurityRow) throws { try row.check(tool) }

    @Test func lineOfAScript_thatIsNoCommand_isNotRepeated() throws {
        let run = try tool.security("-i", input: "unlock-keychain nokc\nhunter2 pass\n")
        #expect(run.status != 0 && !run.everything.contains("hunter2"))
    }

    @Test func export_toAnythingButAFile_isRefused() throws {
        let run = try tool.shell(
            """
            openssl req -x509 -newkey rsa:2048 -nodes -keyout k.pem -out c.pem -days 2 -subj /CN=x 2> /dev/null
            "$CTL" security import k.pem > imported || exit 77
            ln -s target link; "$CTL" security export -t privKeys -o link; echo $?; readlink link
            """)
        #expect(run.status == 77 || run.text.hasSuffix("target\n") && !run.text.hasPrefix("0"), "\(run.everything)")
    }

    @Test(.enabled(if: Tool.hasStrace && hasOpenSSL, "strace cannot trace here, or openssl is not installed"))
    func export_killedBeforeTheFileHasItsName_leavesNothing() throws {
        try makeIdentity()
        try tool.prepare("import k.pem")
        let run = try tool.shell(
            """
            mkdir there
            strace -f -qq -o trace -e 'inject=?link,linkat,?rename,?renameat,renameat2:signal=KILL:when=1' \
                "$CTL" security export -t privKeys -o there/out.pem; echo $?; ls -A there
            """)
        #expect(run.text == "137\n", "\(run.everything)")
    }

    @Test(arguments: ["find-generic-password -s \"$(printf '\\377')\"", "-i"])
    func words_thatAreNotText_areRefusedAndNotRepeated(line: String) throws {
        let run = try tool.shell("printf 'error \\377hunter2\\n' | \"$CTL\" security \(line)")
        #expect(run.status == (line == "-i" ? 1 : 64) && !run.everything.contains("hunter2"), "\(run.everything)")
        #expect(run.errors.contains("UTF-8"))
    }

    @Test func tool_withoutACommand_showsItsUsage() throws {
        let run = try tool.security("")
        #expect(run.status == 2)
        #expect(run.text.hasPrefix("Usage: security [-h] [-i] [-l] [-p prompt] [-q] [-v] [command] [opt ...]\n"))
    }

    @Test func help_ofACommand_isOnStandardOutput() throws {
        let run = try tool.security("help find-generic-password")
        #expect(run.status == 0)
        #expect(run.text.hasPrefix("Usage: find-generic-password [-a account] [-s service] "))
    }

    @Test func tool_underTheNameSecurity_isThatCommand() throws {
        let run = try tool.shell(
            "ln -s \"$CTL\" security; ./security add-generic-password -a a -s s -w x; ./security find-generic-password -ws s"
        )
        #expect(run.text == "x\n")
    }

    @Test(arguments: ["find-generic-password -s s", "dump-keychain", "list-keychains", "help"])
    func output_toAFullDisk_isAnError(line: String) throws {
        try tool.prepare("add-generic-password -a a -s s -w x")
        #expect(try tool.security(line + " > /dev/full").status != 0)
    }

    @Test(arguments: ["find-generic-password -s s -w >&-", "-i <&-"])
    func descriptor_thatIsClosed_isAnError(line: String) throws {
        try tool.prepare("add-generic-password -a a -s s -w x")
        #expect(try tool.security(line).status != 0)
    }

    // MARK: - Commands from standard input

    static let scripts: [(input: String, output: String, errors: String, status: Int32)] = [
        (
            "add-generic-password -a 'i u' -s s -w \"se\\\"c ret\"\nfind-generic-password -wa i\\ u\n", "se\"c ret\n",
            "", 0
        ),
        ("add-generic-password -a a -s s -w ''\nfind-generic-password -a a -w", "\n", "", 0),
        (
            "add-generic-password -a a -s s -w\nval\nval\nfind-generic-password -s s -w\n", "val\n",
            "password data for new item: retype password for new item: ", 0
        ),
        ("bogus\n", "", "security: unknown command\nline: returned 1\n", 1),
        (
            "find-generic-password -s s\n\n  \n", "",
            "security: SecKeychainSearchCopyNext: The specified item could not be found in the keychain.\n"
                + "find-generic-password: returned -25300\n", 44
        ),
        ("bogus\nlist-keychains -d system\n", "", "security: unknown command\nline: returned 1\n", 0),
        ("quit\nbogus\n", "", "", 0),
        ("find-generic-password -s \"x\n", "", "security: a line on standard input has an open quote\n", 1),
        ("find-generic-password -s x\0y\n", "", "security: a line on standard input is not valid UTF-8\n", 1),
        (
            String(repeating: "a ", count: 33) + "\n", "",
            "security: a line on standard input has more than 32 words\n", 1
        ),
        (
            String(repeating: "a", count: 5000) + "\nlist-keychains -d system\n", "",
            "security: stdin: A line on standard input is longer than 4096 bytes.\n", 0
        ),
    ]

    @Test(arguments: scripts)
    func commands_onStandardInput_runOneByOne(
        script: (input: String, output: String, errors: String, status: Int32)
    ) throws {
        let run = try tool.security("-i", input: script.input)
        #expect(run.text == script.output)
        #expect(run.errors == script.errors)
        #expect(run.status == script.status)
    }

    @Test func endlessLine_onStandardInput_isRefused() throws {
        let run = try tool.shell("head -c 20000000 /dev/zero | \"$CTL\" security -i")
        #expect(run.status == 42)
    }

    // MARK: - Certificates

    private static let hasOpenSSL: Bool = {
        do { return try Tool().shell("openssl version").status == 0 } catch { return false }
    }()

    private func makeIdentity() throws {
        let run = try tool.shell(
            """
            set -e
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout k.pem -out c.pem \
            -subj '/CN=Test Signer/emailAddress=a@b.c' -days 10
            openssl pkcs12 -export -inkey k.pem -in c.pem -out id.p12 -passout pass:pw -name 'My Id'
            """)
        try #require(run.status == 0, "\(run.errors)")
    }

    static let certificates: [SecurityRow] = [
        SecurityRow("import c.pem", out: "1 certificate imported.\n"),
        SecurityRow("import k.pem -k login.keychain -A -T /usr/bin/codesign", out: "1 key imported.\n"),
        SecurityRow("import k.pem -a one 1 -a two 2 -k login.keychain", out: "1 key imported.\n"),
        SecurityRow("import id.p12 -f pkcs12 -P pw", out: "1 identity imported.\n"),
        SecurityRow(
            "import id.p12 -P wrong",
            err: "security: SecKeychainItemImport: MAC verification failed during PKCS12 import (wrong password?)\n", 1),
        SecurityRow(
            "import k.pem -k none.keychain",
            err: "security: SecKeychainItemImport: The specified keychain could not be found.\n", 1),
        SecurityRow(
            "import missing",
            err: "security: SecKeychainItemImport: Could not read 'missing': No such file or directory.\n",
            1),
        SecurityRow(
            "import /dev/zero",
            err: "security: SecKeychainItemImport: '/dev/zero' is not a file of 1 byte to 16 MiB.\n", 1
        ),
        SecurityRow(
            "find-certificate",
            err: "security: SecKeychainSearchCopyNext: The specified item could not be found in the keychain.\n", 44),
        SecurityRow("find-certificate -a -p"),
        SecurityRow("find-identity -v", out: "     0 valid identities found\n"),
        SecurityRow(
            "find-identity -p codesigning",
            out: "\nPolicy: Code Signing\n  Matching identities\n     0 identities found\n\n"
                + "  Valid identities only\n     0 valid identities found\n"),
        SecurityRow(
            "find-identity -v -s me",
            out: "Looking for identities matching \"me\"\n     0 valid identities found\n"),
        SecurityRow(
            "export -f bsafe",
            err:
                "security: SecKeychainItemExport: The format is not supported. These are: openssl, x509, pkcs8, pkcs12, pemseq.\n",
            1),
    ]

    @Test(.enabled(if: hasOpenSSL, "openssl is not installed"), arguments: certificates)
    func certificates_areReadAsOnMacOS(row: SecurityRow) throws {
        try makeIdentity()
        try row.check(tool)
    }

    @Test(.enabled(if: hasOpenSSL, "openssl is not installed"))
    func identity_exported_isTheSameToOpenSSL() throws {
        try makeIdentity()
        try tool.prepare(
            "import id.p12 -P pw", "export -t identities -P new -o out.p12", "export -t privKeys -o out.pem")
        let run = try tool.shell(
            """
            openssl pkey -in k.pem > a; openssl pkey -in out.pem | cmp - a && stat -c %a out.pem
            openssl pkcs12 -in out.p12 -passin pass:new -nodes -nocerts | openssl pkey | cmp - a && echo same
            """)
        #expect(run.text == "600\nsame\n")
    }

    @Test(.enabled(if: hasOpenSSL, "openssl is not installed"))
    func certificate_found_isShownAsPEMWithItsHashes() throws {
        try makeIdentity()
        try tool.prepare("import id.p12 -P pw")
        let run = try tool.security("find-certificate -c Signer -Z -p")
        #expect(run.text.hasPrefix("SHA-256 hash: "))
        let check = try tool.shell(
            "\"$CTL\" security find-certificate -a -p -e A@B.C | cmp - c.pem && \"$CTL\" security find-identity -v")
        #expect(check.text.contains(") "))
        #expect(check.text.hasSuffix("\"Test Signer\"\n     1 valid identities found\n"))
    }

    /// As on macOS. They are stored without it, as the item functions store them.
    @Test(.enabled(if: hasOpenSSL, "openssl is not installed"))
    func namesInACertificate_areShownWithTheirHeader() throws {
        try makeIdentity()
        try tool.prepare("import c.pem")
        let run = try tool.security("find-certificate -c Signer")
        #expect(run.text.contains("\"issu\"<blob>=0x30") && run.text.contains("\"subj\"<blob>=0x30"))
    }

    /// Scripts read the name of a certificate from either line, whatever the PKCS#12 file calls it.
    @Test(
        .enabled(if: hasOpenSSL, "openssl is not installed"),
        arguments: [("/CN=Only Name", "Only Name"), ("/CN=With Mail/emailAddress=a@b.c", "a@b.c")])
    func certificate_fromPKCS12_isLabelledWithItsOwnName(subject: String, alias: String) throws {
        let made = try tool.shell(
            """
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout k.pem -out c.pem \
            -subj '\(subject)' -days 10 &&
            openssl pkcs12 -export -inkey k.pem -in c.pem -out id.p12 -passout pass:pw -name 'Friendly'
            """)
        try #require(made.status == 0, "\(made.errors)")
        try tool.prepare("import id.p12 -P pw")
        let lines = try tool.security("find-certificate").text.split(separator: "\n")
        let name = subject.dropFirst(4).split(separator: "/")[0]
        #expect(lines.contains("    \"labl\"<blob>=\"\(name)\""))
        #expect(lines.contains("    \"alis\"<blob>=\"\(alias)\""))
    }

    @Test(.enabled(if: hasOpenSSL, "openssl is not installed"))
    func key_inABlock_beginsWithItsKindAndTheNameInItsFile() throws {
        try makeIdentity()
        try tool.prepare("import id.p12 -P pw")
        let run = try tool.security("set-key-partition-list -S apple: -s -k x")
        let lines = run.text.split(separator: "\n").dropFirst(2).prefix(4)
        #expect(
            Array(lines) == [
                "class: 0x00000010 ", "attributes:", "    0x00000000 <uint32>=0x00000010 ",
                "    0x00000001 <blob>=\"My Id\"",
            ])
    }

    @Test(.enabled(if: hasOpenSSL, "openssl is not installed"), arguments: ["Test Signer", "test SIGN", "SIGNER"])
    func certificate_isFoundByAPartOfItsName_inAnyLetters(name: String) throws {
        try makeIdentity()
        try tool.prepare("import c.pem")
        let run = try tool.shell("\"$CTL\" security find-certificate -c '\(name)' -p | cmp - c.pem && echo same")
        #expect(run.text == "same\n", "\(run.errors)")
    }

    @Test func identity_ofAnUnknownPolicy_isAWrongCommandLine() throws {
        #expect(try tool.security("find-identity -p none").status == 2)
    }

    @Test(.enabled(if: hasOpenSSL, "openssl is not installed"))
    func key_importedWithX_isNotExported() throws {
        try makeIdentity()
        try tool.prepare("import k.pem -x")
        let run = try tool.security("export -t privKeys")
        #expect(run.status == 1)
        #expect(run.text.isEmpty)
    }

    @Test(.enabled(if: hasOpenSSL, "openssl is not installed"), arguments: ["certs", "pubKeys", "privKeys", "allKeys"])
    func pkcs12_ofAnythingButIdentities_isNotExported(kind: String) throws {
        try makeIdentity()
        try tool.prepare("import id.p12 -P pw")
        let run = try tool.security("export -t \(kind) -f pkcs12 -P new")
        #expect(run.status == 1 && run.output.isEmpty)
    }

    @Test(.enabled(if: hasOpenSSL, "openssl is not installed"))
    func file_importedTwice_changesNothing() throws {
        try makeIdentity()
        try tool.prepare("import k.pem")
        #expect(try tool.security("import id.p12 -P pw").status == 1)
        #expect(try tool.listed().count == 1)
    }

    @Test(.enabled(if: hasOpenSSL, "openssl is not installed"))
    func identity_whoseCertificateExists_isImported() throws {
        try makeIdentity()
        try tool.prepare("import c.pem")
        #expect(try tool.security("import c.pem").status == 1)
        try tool.prepare("import id.p12 -P pw")
        #expect(try tool.listed().count == 2)
        #expect(try tool.security("find-identity -v").text.hasSuffix("     1 valid identities found\n"))
    }

    @Test func passwords_areNotExported() throws {
        try tool.store()
        let run = try tool.security("export -t all")
        #expect(run.status == 1)
        #expect(!run.everything.contains("correct horse"))
    }
}
