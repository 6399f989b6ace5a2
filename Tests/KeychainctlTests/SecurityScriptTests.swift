// SPDX-License-Identifier: Apache-2.0
// security: what scripts for macOS also call: cms, the keychains of the system, and commands that do not exist here.

import Foundation
import KeychainTestSupport
import Testing

private let hasOpenSSL: Bool = {
    do { return try Tool().shell("openssl version").status == 0 } catch { return false }
}()

@Suite("security: scripts of macOS")
struct SecurityScriptTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    // MARK: - Commands that are not supported

    static let unsupported = [
        "add-trusted-cert -d -r trustRoot -k /Library/Keychains/System.keychain ca.pem", "remove-trusted-cert ca.pem",
        "dump-trust-settings -d", "trust-settings-export -d t.plist", "trust-settings-import -d t.plist",
        "user-trust-settings-enable", "verify-cert -c ca.pem", "create-keypair -a rsa",
        "authorizationdb read system.preferences", "authorize -u x", "execute-with-privileges true",
        "get-identity-preference -s x", "set-identity-preference -n -s x", "smartcards token -l", "list-smartcards",
        "export-smartcard", "create-filevaultmaster-keychain x.keychain", "filevault", "create-db x", "install-mds",
        "leaks", "translocate-create x", "translocate-policy-check x", "translocate-status-check x",
        "translocate-original-path x", "requirement-evaluate x y",
    ]

    @Test(arguments: unsupported)
    func command_thatDoesNotExistHere_failsAndSaysSo(line: String) throws {
        let name = line.prefix { $0 != " " }
        for words in [line, "help \(name)"] {
            let run = try tool.security(words)
            #expect(run.status == 1 && run.text.isEmpty)
            #expect(run.errors.hasPrefix("security: \(name) is not supported here. "))
        }
    }

    @Test func trust_ofACertificate_isRefusedWithTheCommandOfLinux() throws {
        let run = try tool.security("add-trusted-cert -d ca.pem")
        #expect(run.errors.contains("nothing was changed") && run.errors.contains("run update-ca-certificates"))
    }

    // MARK: - The keychains of the system

    @Test(arguments: [
        ("import c.pem -k", 1), ("export -k", 1), ("add-generic-password -a a -s s -w x", 50),
        ("unlock-keychain -p x", 50),
    ])
    func change_ofTheSystemKeychain_failsAndNamesTheWayOfLinux(command: String, status: Int32) throws {
        let run = try tool.security("\(command) /Library/Keychains/System.keychain")
        #expect(run.status == status)
        #expect(run.errors.contains("keychain could not be found. The system has no keychain here."))
        #expect(run.errors.contains("update-ca-certificates"))
    }

    private static let roots = "/System/Library/Keychains/SystemRootCertificates.keychain"

    /// Runs a script with two roots, `one.pem` and `two.pem`, in the file that the system's roots come from.
    private func withRoots(_ script: String) throws -> Tool.Run {
        try tool.shell(
            """
            for name in one two; do
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout $name.key -out $name.pem \
            -subj "/CN=Root $name" -days 10 2> /dev/null || exit 77
            done
            cat one.pem two.pem > roots.pem; export SSL_CERT_FILE="$PWD/roots.pem"
            roots=\(Self.roots)
            \(script)
            """)
    }

    @Test(.enabled(if: hasOpenSSL, "openssl is not installed"))
    func roots_ofTheSystem_areReadFromTheKeychainOfMacOS() throws {
        let run = try withRoots(
            """
            "$CTL" security find-certificate -a -p $roots | cmp - roots.pem && echo all
            "$CTL" security find-certificate -c 'root two' -p $roots | cmp - two.pem && echo named
            "$CTL" security export -k $roots -t certs -f pemseq -o out.pem 2> /dev/null
            cmp out.pem roots.pem && echo exported
            "$CTL" security find-certificate -c 'Root one' $roots | grep -e keychain: -e labl
            """)
        #expect(
            run.text == "all\nnamed\nexported\nkeychain: \"\(Self.roots)\"\n    \"labl\"<blob>=\"Root one\"\n",
            "\(run.errors)")
    }

    @Test(.enabled(if: hasOpenSSL, "openssl is not installed"))
    func roots_ofTheSystem_areReadWithoutAVault() throws {
        let run = try withRoots(
            "KEYCHAIN_VAULT=/dev/null/x \"$CTL\" security find-certificate -a -p $roots | cmp - roots.pem && echo all"
        )
        #expect(run.text == "all\n", "\(run.errors)")
    }

    @Test(.enabled(if: hasOpenSSL, "openssl is not installed"))
    func roots_ofTheSystem_areNotFoundElsewhereAndNotChanged() throws {
        let run = try withRoots(
            """
            "$CTL" security find-certificate -a -p; "$CTL" security find-certificate -a -p login.keychain
            "$CTL" security delete-certificate -c 'Root one' $roots; echo $?
            "$CTL" security import two.pem -k $roots; echo $?
            cat one.pem two.pem | cmp - roots.pem && echo same
            """)
        #expect(run.text == "1\n1\nsame\n", "\(run.errors)")
    }

    @Test(arguments: ["missing", "empty"])
    func roots_thatCannotBeRead_areNoEmptyFile(file: String) throws {
        let run = try tool.shell(
            ": > empty; SSL_CERT_FILE=\"$PWD/\(file)\" \"$CTL\" security find-certificate -a -p \(Self.roots)")
        #expect(run.status != 0 && run.text.isEmpty && run.errors.contains(file))
    }

    // MARK: - Signed messages

    /// Makes a profile and signs it, as `script` says, into `p`. The exit code is 77 without openssl's command.
    private func withProfile(_ script: String) throws -> Tool.Run {
        try tool.shell(
            """
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout k.pem -out c.pem \
            -subj /CN=Signer -days 10 2> /dev/null || exit 77
            printf '<plist><string>UUID</string>\\000\\377</plist>\\n' > profile
            sign() { openssl cms -sign -in profile -binary -signer c.pem -inkey k.pem -outform der -out p "$@"; }
            \(script)
            """)
    }

    @Test(
        .enabled(if: hasOpenSSL, "openssl is not installed"),
        arguments: [
            "-i p", "< p", "-i /dev/stdin < p", "-i p -k login.keychain -u 6", "-i p -o out; cat out",
        ], ["-nodetach", "-nodetach -stream", "-nodetach -nocerts -nosmimecap"])
    func message_thatIsSigned_isDecoded(words: String, signing: String) throws {
        let run = try withProfile("sign \(signing); ( \"$CTL\" security cms -D \(words) ) | cmp - profile && echo same")
        #expect(run.text == "same\n" && run.errors.isEmpty, "\(run.everything)")
    }

    @Test(.enabled(if: hasOpenSSL, "openssl is not installed"))
    func message_decodedIntoAFile_isPrivateAndComplete() throws {
        let run = try withProfile("sign -nodetach; \"$CTL\" security cms -Di p -o out; stat -c %a out; cmp out profile")
        #expect(run.text == "600\n" && run.status == 0)
    }

    @Test(
        .enabled(if: hasOpenSSL, "openssl is not installed"),
        arguments: [
            ("sign", "-i p"), ("sign", "-i p -c profile"), ("sign -nodetach", "-i p -h 0"),
            ("sign -nodetach", "-S -N Signer -i profile"), ("head -c 300 k.pem > p", "-i p"), (": > p", "-i p"),
            ("sign -nodetach; head -c 200 p > q", "-i q"),
            ("openssl crl2pkcs7 -nocrl -certfile c.pem -outform der -out p", "-i p"),
        ])
    func message_thatCannotBeDecoded_leavesNoOutput(making: String, words: String) throws {
        let run = try withProfile("\(making)\n\"$CTL\" security cms -D \(words) -o out; echo $?; ls out 2> /dev/null")
        #expect(run.text == "1\n" && run.errors.hasPrefix("security: "), "\(run.everything)")
    }

    @Test func message_thatIsMissing_isNamedAsOnMacOS() throws {
        try SecurityRow(
            "cms -D -i missing", err: "security: unable to open \"missing\" for reading: No such file or directory\n", 1
        ).check(tool)
    }

    @Test(arguments: ["cms", "cms -i p", "cms -D p", "cms -D -y", "cms -h"])
    func decoding_withAWrongCommandLine_showsItsUsage(line: String) throws {
        let run = try tool.security(line)
        #expect(run.status == 2 && run.errors.contains("Usage: cms -D "))
    }

    /// The lines that follow are commands, and may hold passwords.
    @Test func message_amongCommandsOfStandardInput_needsAFile() throws {
        let run = try tool.security("-i", input: "cms -D\nlist-keychains -d system\n")
        #expect(run.status == 0 && run.errors.contains("Name a file: -i FILE"))
    }

    // MARK: - Files without a passphrase

    @Test(.enabled(if: hasOpenSSL, "openssl is not installed"))
    func identity_exportedWithAnEmptyPassphrase_isWarnedOfAndRead() throws {
        let run = try withProfile(
            """
            "$CTL" security import k.pem > /dev/null && "$CTL" security import c.pem > /dev/null
            "$CTL" security export -t identities -f pkcs12 -P '' -o id.p12 && stat -c %a id.p12
            openssl pkey -in k.pem > a
            openssl pkcs12 -in id.p12 -passin pass: -nodes -nocerts | openssl pkey | cmp - a && echo same
            """)
        #expect(run.text == "600\nsame\n", "\(run.errors)")
        #expect(run.errors.contains("security: Warning: The passphrase is empty"))
    }

    @Test(.enabled(if: hasOpenSSL, "openssl is not installed"), arguments: ["-f pkcs8 -w -P ''", "-f pkcs12"])
    func keys_withAnEmptyPassphraseThatWasNotAskedFor_areNotExported(words: String) throws {
        let run = try withProfile(
            """
            "$CTL" security import k.pem > /dev/null && "$CTL" security import c.pem > /dev/null
            printf '\\n\\n' | "$CTL" security export -t identities \(words) -o out; echo $?; ls out 2> /dev/null
            """)
        #expect(run.text == "1\n", "\(run.everything)")
    }

    // MARK: - Whole scripts

    /// As the documentation of a CI service has it, and the steps after it.
    @Test(.enabled(if: hasOpenSSL, "openssl is not installed"))
    func script_thatInstallsACertificateInCI_runs() throws {
        let run = try withProfile(
            """
            set -e
            security() { "$CTL" security "$@"; }
            openssl pkcs12 -export -inkey k.pem -in c.pem -out cert.p12 -passout pass:pw -name Signer
            sign -nodetach
            kc="$HOME/tmp/app-signing.keychain-db"
            security create-keychain -p temp "$kc"
            security set-keychain-settings -lut 21600 "$kc"
            security unlock-keychain -p temp "$kc"
            security import cert.p12 -P pw -A -t cert -f pkcs12 -k "$kc"
            security set-key-partition-list -S apple-tool:,apple: -k temp "$kc" > /dev/null
            security list-keychains -d user -s "$kc" $(security list-keychains -d user | tr -d '"')
            security find-identity -v -p codesigning "$kc" | grep -o '"[^"]*"' | tr -d '"'
            security cms -D -i p | grep -a -o UUID
            security delete-keychain "$kc"
            security list-keychains | sed 's|.*/||'
            """)
        #expect(
            run.status == 0 && run.text == "1 identity imported.\nSigner\nUUID\nlogin.keychain-db\"\n",
            "\(run.everything)")
    }
}
