// SPDX-License-Identifier: Apache-2.0
// `certificate` and `identity`, with the openssl program as the other side.

import Foundation
import KeychainTestSupport
import Testing

@Suite("certificate and identity", .enabled(if: Tool.hasKeyPrograms, "openssl or ssh-keygen is not installed"))
struct IdentityTests {
    let tool: Tool

    /// Certificates of a root and of a client; the file with the client's key has the passphrase of the file `pass`.
    init() throws {
        tool = try Tool()
        try shell(
            """
            echo 'correct horse' > pass; echo wrong > bad
            new='-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes'
            openssl req -x509 $new -keyout ca.key -out ca.pem -subj '/CN=Test Root' -days 30 2> /dev/null
            openssl req $new -keyout k.pem -out csr -subj '/CN=Client One' 2> /dev/null
            openssl x509 -req -in csr -CA ca.pem -CAkey ca.key -set_serial 7 -days 20 -out c.pem 2> /dev/null
            \(Self.export) -out id.p12
            """)
    }

    private static let export =
        "openssl pkcs12 -export -inkey k.pem -in c.pem -certfile ca.pem -name 'My Client' -passout file:pass"

    /// Runs a script that has to work, and returns what it printed.
    @discardableResult
    private func shell(_ script: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
        let run = try tool.shell("set -e; \(script)")
        try #require(run.status == 0, "\(script): \(run.everything)", sourceLocation: sourceLocation)
        return run.text
    }

    private func listed(_ what: String) throws -> [[String: Any]] {
        let run = try tool.run(what, "list", "--json")
        try #require(run.status == 0, "\(run.errors)")
        return try #require(try JSONSerialization.jsonObject(with: run.output) as? [[String: Any]])
    }

    // MARK: - PKCS#12 both ways

    private static let importing = "\"$CTL\" identity import id.p12 --tag t --file-passphrase-fd 3 3< pass"

    /// How openssl makes the client's key, and how it writes the file.
    @Test(arguments: [
        ("", ""), ("openssl genpkey -algorithm ED25519 -out k.pem", "-keypbe NONE -certpbe NONE"),
        ("openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out k.pem 2> /dev/null", "-legacy"),
    ])
    func identity_ofOpenSSL_isImportedAndExportedForOpenSSL(making: String, options: String) throws {
        if !making.isEmpty {
            try shell(
                """
                \(making); openssl req -new -key k.pem -subj '/CN=Client One' -out csr
                openssl x509 -req -in csr -CA ca.pem -CAkey ca.key -set_serial 7 -days 20 -out c.pem 2> /dev/null
                """)
        }
        try shell(
            "\(Self.export) \(options) -out id.p12; \(Self.importing) 2> notes; grep -q '^keychainctl: 3 added' notes")
        try shell(
            """
            "$CTL" identity export out.p12 --tag t --file-passphrase-fd 3 3< pass; test "$(stat -c %a out.p12)" = 600
            if test "$(stat -f -c %T /dev/shm)" = tmpfs; then
                "$CTL" identity export - --tag t --file-passphrase-fd 3 3< pass > piped.p12; test ! -e -
                openssl pkcs12 -in piped.p12 -passin file:pass -noout
            fi
            openssl pkcs12 -in out.p12 -passin file:pass -nodes -info -out all.pem 2> info
            openssl pkey -in k.pem > key; openssl pkey -in all.pem | cmp - key; openssl x509 -in all.pem | cmp - c.pem
            test "$(grep -c 'BEGIN CERTIFICATE' all.pem)" = 2
            test "$(grep -c 'PBES2, PBKDF2, AES-256-CBC, Iteration 600000' info)" = 2
            """)
    }

    @Test func identity_imported_isListedWithItsFingerprintAndNoBytes() throws {
        try shell("\(Self.importing) --label Laptop 2> notes")
        let identity = try #require(try listed("identity").first)
        let certificate = try #require(identity["certificate"] as? [String: Any])
        let key = try #require(identity["key"] as? [String: Any])
        #expect(certificate["name"] as? String == "Client One" && certificate["issuer"] as? String == "Test Root")
        #expect(certificate["label"] as? String == "Laptop" && key["label"] as? String == "Laptop")
        #expect(
            key["tag"] as? String == "t" && key["type"] as? String == "p256"
                && certificate["serialNumber"] as? String == "07")
        #expect((identity["chain"] as? [String])?.count == 2)
        let printed = try shell("openssl x509 -in c.pem -noout -fingerprint -sha256 | cut -d = -f 2")
        let fingerprint = printed.filter(\.isHexDigit).lowercased()
        #expect(certificate["fingerprint"] as? String == fingerprint)
        let table = try shell(
            "\"$CTL\" identity list; \"$CTL\" certificate list; \"$CTL\" certificate show -f \(fingerprint)")
        #expect(
            table.contains(fingerprint) && table.contains("Test Root") && table.contains("Private key: t\n"), "\(table)"
        )
        let secret = try shell("sed -n 2p k.pem").dropLast()
        let notes = try shell("cat notes")
        #expect(!table.contains(secret) && !notes.contains(secret))
    }

    /// The three surfaces of the tool make the same items.
    @Test func identity_thatSecurityImported_isThereAlready() throws {
        try shell("printf %s 'correct horse' > p; \"$CTL\" security import id.p12 -P \"$(cat p)\" 2> /dev/null")
        try shell(
            "\"$CTL\" identity import id.p12 --file-passphrase-fd 3 3< pass 2> notes; grep -q ' 0 added, 3 there' notes"
        )
        #expect(try tool.listed().count == 3 && listed("identity").count == 1)
        try shell("\"$CTL\" identity delete --name 'Client One'; \"$CTL\" certificate delete --name 'Test Root'")
        #expect(try tool.listed().isEmpty)
    }

    @Test func identity_ofAPEMTextOrWithoutAPassphrase_isImportedWithoutAQuestion() throws {
        try shell("cat ca.pem k.pem c.pem | \"$CTL\" identity import 2> notes; grep -q ' 3 added' notes")
        try shell(
            """
            openssl pkcs12 -export -inkey k.pem -in c.pem -passout pass: -out empty.p12
            "$CTL" identity import empty.p12 < /dev/null 2> notes; grep -q ' 0 added, 2 there' notes
            """)
    }

    // MARK: - Refusals

    /// A command after which nothing is stored, and its exit code.
    private static let refused: [(words: String, status: Int32)] = [
        ("identity import id.p12 --file-passphrase-fd 3 3< bad", 7), ("identity import id.p12 < /dev/null", 5),
        ("identity import k.pem", 14), ("identity import c.pem", 14), ("identity import pub", 14),
        ("identity import two.pem --tag t", 64), ("identity import two.pem --label l", 64),
        ("identity import alone.pem", 14), ("identity import cut.p12 --file-passphrase-fd 3 3< pass", 1),
        ("identity import damaged.pem", 1), ("identity import pass", 1), ("identity import large", 18),
        ("identity import missing", 17), ("identity import < /dev/null", 1), ("identity import id.p12 --tag ''", 64),
        ("identity import --file-passphrase-fd 0 < pass", 64), ("certificate import k.pem", 14),
        ("certificate import id.p12 --file-passphrase-fd 3 3< pass", 14), ("certificate import pub", 14),
        ("certificate import damaged.pem", 1), ("certificate import both.pem --label l", 64),
        ("certificate import joined.der", 1), ("certificate import joined.pem", 1),
        ("certificate import c.pem --label ''", 64), ("identity import id.p12 --label ''", 64),
        ("certificate import c.pem --accessibility never", 64), ("certificate show --name x", 3),
        ("certificate show --fingerprint 0123456", 64), ("certificate show --fingerprint xxxxxxxx", 64),
        ("certificate show", 64), ("certificate delete --fingerprint 01234567", 3), ("certificate export --name x", 3),
        ("certificate export --name x --der --chain", 64), ("identity export out.p12", 64), ("identity export", 64),
        ("identity export out.p12 --name x --file-passphrase-fd 3 3< pass", 3), ("identity delete --tag t", 3),
        ("identity export out.p12 --tag '' --file-passphrase-fd 3 3< pass", 64), ("identity delete --tag ''", 64),
        ("certificate delete --name ''", 64),
    ]

    @Test func commands_thatCannotDoWhatTheySay_failAndStoreNothing() throws {
        try shell(
            """
            openssl pkey -in k.pem -pubout -out pub; head -c 700 id.p12 > cut.p12; head -c 1100000 /dev/zero > large
            cat k.pem c.pem ca.key ca.pem > two.pem; cat k.pem c.pem ca.key > alone.pem; cat c.pem ca.pem > both.pem
            (cat k.pem c.pem; sed 's/^M/!/' ca.pem) > damaged.pem
            for name in c ca; do openssl x509 -in $name.pem -outform DER; done > joined.der
            (echo -----BEGIN CERTIFICATE-----; base64 joined.der; echo -----END CERTIFICATE-----) > joined.pem
            """)
        for (words, status) in Self.refused {
            let run = try tool.shell("export KEYCHAIN_AUTHENTICATOR=none; \"$CTL\" \(words)")
            #expect(run.status == status && !run.errors.contains("wrong "), "\(words): \(run.status) \(run.everything)")
            #expect(run.output.isEmpty, "\(words)")
        }
        let large = try tool.run("certificate", "import", "large")
        #expect(large.errors.contains("so it is no file of certificates"), "\(large.errors)")
        #expect(try tool.listed().isEmpty && tool.run("identity", "list").everything.isEmpty)
        #expect(try shell("ls").contains("out.p12") == false)
    }

    @Test func import_underATagOfAnotherKey_changesNothing() throws {
        try shell("\"$CTL\" key generate p256 --tag t 2> /dev/null")
        let before = try tool.run("key", "list").text
        #expect(try tool.shell(Self.importing).status == 4)
        #expect(try tool.run("key", "list").text == before && tool.listed().count == 1)
    }

    @Test func export_ontoAFileOrWithoutAPassphrase_writesNothing() throws {
        try shell("\(Self.importing) 2> /dev/null; echo old > out.p12")
        let export = "\"$CTL\" identity export out.p12 --tag t"
        #expect(try tool.shell("\(export) --file-passphrase-fd 3 3< pass").status == 4)
        #expect(try tool.shell("KEYCHAIN_AUTHENTICATOR=none \(export) --replace < /dev/null").status == 5)
        #expect(try tool.shell("\(export) --replace --file-passphrase-fd 3 3< /dev/null").status == 64)
        #expect(try shell("cat out.p12; ls -A | grep -c unfinished || true") == "old\n0\n")
        try shell("\(export) --replace --file-passphrase-fd 3 3< pass; ! grep -q old out.p12")
    }

    @Test func key_underTwoTags_goesWithItsLastCertificate() throws {
        try shell("\(Self.importing) 2> /dev/null; \"$CTL\" key import k.pem --tag u 2> /dev/null")
        try shell("\"$CTL\" certificate import c.pem --access-group g 2> /dev/null")
        let delete = "\"$CTL\" identity delete --name 'Client One' --access-group"
        try shell("\(delete) default 2> notes; grep -q 'The private key stays' notes")
        #expect(try listed("key").count == 2)
        try shell("\(Self.importing) 2> /dev/null; \"$CTL\" certificate delete --name 'Client One' --access-group g")
        try shell("\(delete) default")
        #expect(try listed("key").isEmpty)
    }

    @Test func export_ofAKeyThatIsNotExported_isRefused() throws {
        try shell("\"$CTL\" security import k.pem -x > /dev/null; \"$CTL\" certificate import c.pem 2> /dev/null")
        let run = try tool.shell(
            "\"$CTL\" identity export out.p12 -n 'Client One' --file-passphrase-fd 3 3< pass; ls out.p12")
        #expect(run.text.isEmpty && run.errors.contains("not exported"), "\(run.everything)")
    }

    // MARK: - Certificates and deletion

    @Test func certificates_ofAFile_areShownExportedAndDeleted() throws {
        try shell("cat c.pem ca.pem | \"$CTL\" certificate import 2> notes; grep -q ' 2 added' notes")
        try shell(
            """
            "$CTL" certificate export --name 'Client One' --chain > chain; cat c.pem ca.pem | cmp - chain
            "$CTL" certificate export der --name 'Test Root' --der; openssl x509 -in der -inform DER | cmp - ca.pem
            "$CTL" certificate import der 2> notes; grep -q ' 0 added, 1 there already and unchanged' notes
            "$CTL" certificate delete --name 'Test Root'
            "$CTL" certificate import der --label Mine 2> notes; grep -q ' 1 added' notes
            "$CTL" certificate show --name Mine | grep -q '^Issues certificates: yes'
            """)
        let shown = try #require(try listed("certificate").first { $0["label"] as? String == "Mine" })
        #expect(shown["isAuthority"] as? Bool == true && shown["accessibility"] as? String == "always")
        try shell("\"$CTL\" certificate delete --fingerprint \(shown["fingerprint"] as? String ?? "")")
        #expect(try listed("certificate").map { $0["name"] as? String } == ["Client One"])
    }

    /// What is there stays as it is, so an option that asks for something else is an error.
    @Test func import_ofWhatIsThereWithOtherOptions_isAnErrorAndChangesNothing() throws {
        try shell("\(Self.importing) --label Mine 2> /dev/null; \"$CTL\" certificate delete --name 'Test Root'")
        let before = try ["key", "certificate"].map { try tool.run($0, "list", "--json").text }
        let certificates = "\"$CTL\" certificate import"
        for words in [
            "\(Self.importing) --label Other", "\(Self.importing) --accessibility after-first-unlock",
            "\(certificates) c.pem --label Other", "\(certificates) c.pem --accessibility when-unlocked",
            "cat ca.pem c.pem | \(certificates) --accessibility when-unlocked",
        ] {
            let run = try tool.shell(words)
            #expect(run.status == 4 && run.errors.contains("with another label"), "\(words): \(run.everything)")
        }
        #expect(try ["key", "certificate"].map { try tool.run($0, "list", "--json").text } == before)
        #expect(try listed("key").count == 1 && listed("certificate").count == 1)
        // The key and its certificate are as asked for. The issuer is new, and then stays as it is.
        try shell(
            "\(certificates) c.pem --label Mine --accessibility always 2> notes; grep -q ' 0 added, 1 there' notes")
        try shell("\"$CTL\" certificate import ca.pem --label Root 2> /dev/null")
        try shell("\(Self.importing) --label Mine 2> notes; grep -q ' 0 added, 3 there' notes")
    }

    /// The expired certificate of the authority comes before its renewal in lists.
    @Test func chain_withARenewedIssuer_isVerifiedByOpenSSL() throws {
        try shell(
            """
            openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout between.key -subj '/CN=Between' \\
                -out between.csr 2> /dev/null
            echo 'basicConstraints = critical, CA:TRUE' > authority
            renew='openssl x509 -req -in between.csr -CA ca.pem -CAkey ca.key -extfile authority'
            $renew -set_serial 1 -days -1 -out old.pem 2> /dev/null
            $renew -set_serial 2 -days 20 -out new.pem 2> /dev/null
            openssl x509 -req -in csr -CA new.pem -CAkey between.key -set_serial 7 -days 20 -out c.pem 2> /dev/null
            cat k.pem c.pem | "$CTL" identity import --tag t 2> /dev/null
            cat old.pem new.pem ca.pem | "$CTL" certificate import 2> notes; grep -q ' 3 added' notes
            "$CTL" certificate export --name 'Client One' --chain > chain; cat c.pem new.pem ca.pem | cmp - chain
            openssl verify -CAfile ca.pem -untrusted chain c.pem
            "$CTL" identity export out.p12 --tag t --file-passphrase-fd 3 3< pass
            openssl pkcs12 -in out.p12 -passin file:pass -nokeys -out all.pem 2> /dev/null
            openssl verify -CAfile ca.pem -untrusted all.pem c.pem
            """)
    }

    /// Two certificates of one key: a name is not sufficient, and the key goes with the second.
    @Test func identity_deleted_takesItsKeyWithTheLastCertificate() throws {
        try shell(
            """
            \(Self.importing) 2> /dev/null
            openssl x509 -req -in csr -CA ca.pem -CAkey ca.key -set_serial 8 -days 25 -out new.pem 2> /dev/null
            "$CTL" certificate import new.pem 2> /dev/null
            """)
        #expect(try tool.shell("\"$CTL\" identity delete --name 'Client One'").status == 4)
        #expect(try tool.shell("\"$CTL\" identity export out.p12 --tag t --file-passphrase-fd 3 3< pass").status == 4)
        let identities = try listed("identity").compactMap { $0["certificate"] as? [String: Any] }
        try #require(identities.count == 2)
        for (index, certificate) in identities.enumerated() {
            let run = try tool.run(
                "identity", "delete", "-f", String((certificate["fingerprint"] as? String ?? "").prefix(12)))
            #expect(run.status == 0 && run.errors.contains("stays") == (index == 0), "\(run.errors)")
        }
        #expect(try tool.run("key", "list").text.isEmpty && listed("certificate").count == 1)
    }

    private static let importingBoth = """
        for mark in '' --synchronizable; do \(importing) $mark 2> /dev/null; done
        "$CTL" key import k.pem --tag u --synchronizable 2> /dev/null
        """

    @Test func items_ofBothKinds_areDeletedTogetherOrTheMarkedAlone() throws {
        for word in ["--name 'Client One'", "--tag t"] {
            try shell("\(Self.importingBoth); \"$CTL\" identity delete \(word) 2> notes; test ! -s notes")
            #expect(try listed("key").isEmpty && listed("certificate").count == 2)
        }
        try shell("\"$CTL\" certificate delete --name 'Test Root'")
        #expect(try tool.listed().isEmpty)
        try shell("\(Self.importingBoth); \"$CTL\" certificate delete --name 'Test Root' --synchronizable")
        #expect(try listed("certificate").filter { $0["synchronizable"] as? Bool == true }.count == 1)
        // The key has a certificate that is not marked.
        try shell(
            """
            "$CTL" identity delete --tag t --synchronizable 2> notes; grep -q 'The private key stays' notes
            "$CTL" certificate delete --name 'Client One'; "$CTL" certificate delete --name 'Test Root'
            """)
        #expect(try listed("key").count == 3 && listed("certificate").isEmpty)
    }

    @Test func list_besideAnItemThatIsNoCertificate_saysSo() throws {
        let item = ExportedItems.item(
            of: "certificate", "\"issr\":{\"data\":\"AQID\"},\"slnr\":{\"data\":\"AQ==\"},\"ctyp\":{\"number\":3},")
        try #require(try tool.take(ExportedItems.document([item])).status == 0)
        try shell("\"$CTL\" certificate import c.pem 2> /dev/null")
        let run = try tool.run("certificate", "list", "--json")
        #expect(
            run.status == 0 && run.errors.contains("1 item(s) of the class certificate are no X.509"), "\(run.errors)")
        #expect(try listed("certificate").map { $0["name"] as? String } == ["Client One"])
    }

    @Test(.enabled(if: Tool.hasPython, "python3 is not installed"), arguments: ["certificate", "identity", "key"])
    func list_besideADamagedItem_showsTheRestAndSaysHowManyAreMissing(what: String) throws {
        try tool.store()
        try tool.damageItems()
        try tool.run("accept", "--yes")
        let damaged = try tool.run(what, "list")
        #expect(damaged.status == 8 && damaged.output.isEmpty, "\(damaged.everything)")
        try shell("\(Self.importing) 2> /dev/null")
        let run = try tool.run(what, "list", "--json")
        #expect(run.status == 0 && run.text.contains("\"tag\":\"t\"") == (what != "certificate"), "\(run.everything)")
        #expect(try !listed(what).isEmpty)
        #expect(run.errors.contains(" 1 damaged item(s) cannot be shown"), "\(run.errors)")
    }

    @Test(.enabled(if: Tool.hasPython, "python3 is not installed"))
    func import_onATerminal_asksOnceForThePassphrase() throws {
        let dialogue = try tool.dialogue(
            "identity", "import", "id.p12", steps: [("Passphrase of the file", .type("correct horse\n"))])
        #expect(dialogue.status == 0 && !dialogue.screen.contains("horse"), "\(dialogue.screen)")
        #expect(try listed("identity").count == 1)
    }

    /// The secret that opens the vault and the passphrase of the file come on two descriptors; each is read once.
    @Test func identity_inALockedVault_isUsedWithTheRecoveryKey() throws {
        let locked = try LockableTool()
        for name in ["id.p12", "pass"] {
            try FileManager.default.copyItem(
                at: tool.home.appendingPathComponent(name), to: locked.tool.home.appendingPathComponent(name))
        }
        let imported = try locked.withKey("identity import id.p12 --tag t --file-passphrase-fd 4 4< pass")
        #expect(imported.status == 0, "\(imported.errors)")
        for words in [
            "identity list", "identity delete --tag t", "identity export f --tag t --file-passphrase-fd 3 3< pass",
        ] {
            let run = try locked.tool.shell("KEYCHAIN_AUTHENTICATOR=none \"$CTL\" \(words) < /dev/null")
            #expect(run.status == 5, "\(words): \(run.status) \(run.everything)")
        }
        let exported = try locked.withKey("identity export f --tag t --file-passphrase-fd 4 4< pass")
        #expect(exported.status == 0, "\(exported.errors)")
        #expect(try locked.withKey("identity delete --tag t").status == 0)
    }
}
