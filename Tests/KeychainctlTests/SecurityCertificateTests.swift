// SPDX-License-Identifier: Apache-2.0
// security: exporting several identities, and identities outside of their dates.

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
}

extension String {
    /// What follows the prefix in the lines that have it.
    fileprivate func lines(after prefix: String) -> [String] {
        split(separator: "\n").filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
    }
}
