// SPDX-License-Identifier: Apache-2.0
// security: adding and deleting certificates, deleting identities, and finding keys.

import Foundation
import KeychainTestSupport
import Testing

private let hasOpenSSL: Bool = {
    do { return try Tool().shell("openssl version").status == 0 } catch { return false }
}()

@Suite("security: changing certificates", .enabled(if: hasOpenSSL, "openssl is not installed"))
struct SecurityCertificateTests {
    private let tool: Tool

    init() throws {
        tool = try Tool()
        try make("one", "Signer")
        try make("two", "Signer Two")
    }

    /// Makes NAME.key, NAME.pem, NAME.der and NAME.p12.
    private func make(_ name: String, _ commonName: String) throws {
        let run = try tool.shell(
            """
            set -e
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout \(name).key -out \(name).pem \
            -subj '/CN=\(commonName)' -days 10
            openssl x509 -in \(name).pem -outform der -out \(name).der
            openssl pkcs12 -export -inkey \(name).key -in \(name).pem -out \(name).p12 -passout pass:pw -name \(name)
            """)
        try #require(run.status == 0, "\(run.errors)")
    }

    private var names: [String] {
        get throws { try tool.security("find-certificate -a").text.lines(after: "    \"labl\"<blob>=") }
    }

    // MARK: - Deleting

    @Test(arguments: ["two", "SIGNER TWO", "igner t"])
    func certificate_namedByAPart_isDeletedAndItsKeyStays(name: String) throws {
        try tool.prepare("import one.p12 -P pw", "import two.p12 -P pw")
        try SecurityRow("delete-certificate -t -c '\(name)' login.keychain").check(tool)
        #expect(try names == ["\"Signer\""])
        #expect(try tool.security("find-key").text.lines(after: "class: ").count == 2)
    }

    @Test func certificate_withTheWholeName_isPreferredToAPart() throws {
        try tool.prepare("import one.pem", "import two.pem", "delete-certificate -c signer")
        #expect(try names == ["\"Signer Two\""])
    }

    @Test(arguments: ["sha1", "sha256"])
    func certificate_namedByItsHash_isDeleted(algorithm: String) throws {
        try tool.prepare("import one.pem", "import two.pem")
        let run = try tool.shell(
            """
            hash=$(openssl x509 -in two.pem -noout -fingerprint -\(algorithm) | sed 's/.*=//; s/://g' | tr A-F a-f)
            "$CTL" security delete-certificate -Z $hash && "$CTL" security delete-certificate -Z $hash
            """)
        #expect(run.status == 1)
        #expect(run.errors.hasPrefix("Unable to delete certificate matching \""))
        #expect(try names == ["\"Signer\""])
    }

    @Test func certificate_thatIsNotTheOnlyOne_isNotDeleted() throws {
        try tool.prepare("import one.pem", "import two.pem")
        try SecurityRow(
            "delete-certificate -c sign",
            err: "security: \"sign\" is ambiguous, matches more than one certificate\n"
                + "Unable to delete certificate matching \"sign\"\n", 1
        ).check(tool)
        #expect(try names.count == 2)
    }

    @Test func certificate_inSeveralKeychains_isDeletedFromTheFirst() throws {
        try tool.prepare(
            "create-keychain build.keychain", "import one.pem -k build.keychain", "import one.pem -k login.keychain",
            "delete-certificate -c Signer")
        #expect(try tool.listed().map { $0["accessGroup"] as? String } == ["build"])
    }

    @Test(arguments: ["delete-certificate", "delete-identity", "add-certificates", "find-key -t other"])
    func commandOnCertificates_withoutWhatItNeeds_isWrongUsage(line: String) throws {
        #expect(try tool.security(line).status == 2)
    }

    @Test func identity_deleted_takesItsKeyWithIt() throws {
        try tool.prepare("import one.p12 -P pw", "import two.p12 -P pw", "delete-identity -c 'signer two'")
        #expect(try names == ["\"Signer\""])
        #expect(try tool.security("find-key -l one").status == 0)
        #expect(try tool.security("find-key -l two").status == 1)
    }

    @Test func certificate_withoutAKey_isNoIdentityToDelete() throws {
        try tool.prepare("import one.pem")
        try SecurityRow(
            "delete-identity -c Signer", err: "Unable to delete identity matching \"Signer\"\n", 1
        ).check(tool)
        #expect(try names.count == 1)
    }

    // MARK: - Adding

    @Test func certificates_addedTwice_areThereAlready() throws {
        try SecurityRow("add-certificates one.der").check(tool)
        try SecurityRow("add-certificates one.pem", err: "security: one.pem: already in default keychain\n", 1).check(
            tool)
        try SecurityRow(
            "add-certificates -k login.keychain one.pem two.pem",
            err: "security: one.pem: already in login.keychain\n", 1
        ).check(tool)
        #expect(try names.sorted() == ["\"Signer Two\"", "\"Signer\""])
    }

    @Test(arguments: ["one.key", "one.p12", "missing", "-k none.keychain two.pem"])
    func file_withoutCertificatesAlone_isNotAdded(file: String) throws {
        #expect(try tool.security("add-certificates \(file)").status == 1)
        #expect(try names.isEmpty)
        #expect(try tool.security("find-key").status == 1)
    }

    // MARK: - Exporting

    /// With the certificate of the second one twice, as an identity and alone.
    @Test func identities_exportedTogether_areReadByOpenSSLAndImportedAgain() throws {
        try tool.prepare(
            "import one.p12 -P pw", "import two.p12 -P pw", "create-keychain a.keychain",
            "import two.pem -k a.keychain", "export -t identities -f pkcs12 -P new -o all.p12",
            "create-keychain b.keychain")
        let run = try tool.shell(
            """
            openssl pkcs12 -in all.p12 -passin pass:new -nodes -nocerts | grep -c 'BEGIN.*PRIVATE KEY'
            openssl pkcs12 -in all.p12 -passin pass:new -nokeys | grep -c 'BEGIN CERTIFICATE'
            """)
        #expect(run.text == "2\n2\n", "\(run.errors)")
        try SecurityRow("import all.p12 -P new -k b.keychain", out: "2 identities imported.\n").check(tool)
    }

    // MARK: - Identities

    @Test(arguments: [("20000101", "EXPIRED"), ("20980101", "NOT_VALID_YET")])
    func identity_outsideOfItsDates_isListedWithTheReasonOfMacOS(day: String, reason: String) throws {
        let made = try tool.shell(
            """
            set -e
            printf '%s\\n' '[ca]' default_ca=c '[c]' database=db serial=serial new_certs_dir=. default_md=sha256 \
            policy=p '[p]' commonName=supplied > ca.cnf
            : > db; echo 01 > serial
            openssl req -new -key one.key -subj /CN=Signer -out one.csr
            openssl ca -batch -selfsign -notext -config ca.cnf -keyfile one.key -in one.csr -out dated.pem \
            -startdate \(day)000000Z -enddate \(day)000001Z
            """)
        try #require(made.status == 0, "\(made.errors)")
        try tool.prepare("import one.key", "import dated.pem")
        let run = try tool.security("find-identity -p codesigning")
        #expect(run.text.contains("\"Signer\" (CSSMERR_TP_CERT_\(reason))\n     1 identities found\n"))
        #expect(run.text.hasSuffix("  Valid identities only\n     0 valid identities found\n"))
    }

    // MARK: - Keys

    @Test(arguments: [
        ("", 0), ("-t private -s login.keychain", 0), ("-l one", 0), ("-l two", 1), ("-t public", 1),
        ("-t symmetric", 1),
        ("-a $hash", 0), ("-a 00", 1), ("none.keychain", 1),
    ])
    func key_isFoundByEachCondition(condition: String, status: Int32) throws {
        try tool.prepare("import one.p12 -P pw")
        let run = try tool.shell(
            """
            hash=$("$CTL" security find-key | sed -n 's/.*0x00000006 <blob>=0x\\([0-9A-F]*\\).*/\\1/p')
            "$CTL" security find-key \(condition)
            """)
        #expect(run.status == status)
        #expect(run.text.hasPrefix("keychain: ") == (status == 0))
        #expect(
            status == 0 || run.errors.hasPrefix("security: SecItemCopyMatching: The specified item could not be found"))
    }
}

extension String {
    /// What follows the prefix in the lines that have it.
    fileprivate func lines(after prefix: String) -> [String] {
        split(separator: "\n").filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
    }
}
