// SPDX-License-Identifier: Apache-2.0
// security: exporting several identities.

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
}

extension String {
    /// What follows the prefix in the lines that have it.
    fileprivate func lines(after prefix: String) -> [String] {
        split(separator: "\n").filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
    }
}
