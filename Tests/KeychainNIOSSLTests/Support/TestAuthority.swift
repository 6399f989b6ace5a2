// SPDX-License-Identifier: Apache-2.0
// Certificates that the openssl program issues for one test.

#if NIOSSL
    import Foundation
    import KeychainKeyStore
    import KeychainKit
    import KeychainTestSupport
    import NIOSSL
    import Testing

    /// A root, an authority between, and what that one issues.
    final class TestAuthority: Sendable {
        let folder: TemporaryFolder

        static let isInstalled = Programs.installed("openssl") != nil

        /// The kinds of keys, with the arguments of `openssl genpkey`.
        static let kinds = [
            "rsa": "-algorithm RSA -pkeyopt rsa_keygen_bits:2048", "ed25519": "-algorithm ED25519",
            "p256": "-algorithm EC -pkeyopt ec_paramgen_curve:P-256",
            "p384": "-algorithm EC -pkeyopt ec_paramgen_curve:P-384",
            "p521": "-algorithm EC -pkeyopt ec_paramgen_curve:P-521",
        ]

        init() throws {
            folder = try .inMemory("keychain-tls")
            try Data(Self.settings.utf8).write(to: file("settings"))
            try shell(
                """
                openssl genpkey \(Self.kinds["p256", default: ""]) -out root.key
                openssl req -x509 -config settings -extensions authority -key root.key -subj "/CN=Root" -days 2 -out root.pem
                """)
            try issue("between", "p256", by: "root", as: "authority")
        }

        /// Makes `NAME.key`, `NAME.pem`, and `NAME.chain` with the certificate of the issuer.
        func issue(
            _ name: String, _ kind: String, by issuer: String = "between", as extensions: String = "person"
        ) throws {
            let arguments = try #require(Self.kinds[kind])
            try shell(
                """
                openssl genpkey \(arguments) -out \(name).key
                openssl req -new -config settings -key \(name).key -subj "/CN=\(name)" -out request
                openssl x509 -req -in request -CA \(issuer).pem -CAkey \(issuer).key -set_serial 0x1$(openssl rand -hex 8) \\
                    -days 2 -extfile settings -extensions \(extensions) -out \(name).pem 2> log || { cat log; exit 1; }
                cat \(name).pem \(issuer).pem > \(name).chain
                """)
        }

        /// Issues a certificate, and puts it into a store with its key and its issuers.
        func identity(
            _ name: String, _ kind: String = "p256", in keys: KeyStore, by issuer: String = "between"
        ) throws -> KeychainIdentity {
            try issue(name, kind, by: issuer)
            let content = try ["\(name).key", "\(name).chain", "root.pem"].map { try text($0) }.joined()
            let imported = try keys.importItems(SecretValue(content), tag: name)
            return try #require(imported.identities.first { $0.key.tag == name })
        }

        /// Makes a key in a store that never gives it out, issues a certificate for it, and puts that one and its issuer beside it.
        func identityNotExportable(_ name: String, in keys: KeyStore) throws -> KeychainIdentity {
            let key = try keys.create(.p256, tag: name, protection: .notExportable)
            try Data(#require(key.publicKeyPEM).utf8).write(to: file("public"))
            try shell(
                """
                openssl x509 -new -force_pubkey public -subj "/CN=\(name)" -CA between.pem -CAkey between.key \\
                    -set_serial 0x1$(openssl rand -hex 8) -days 2 -extfile settings -extensions person -out \(name).pem \\
                    2> log || { cat log; exit 1; }
                """)
            for file in ["\(name).pem", "between.pem"] { try keys.save(KeychainCertificate(pem: text(file))) }
            return try #require(try keys.identities(tag: name).first)
        }

        var root: NIOSSLCertificate {
            get throws { try #require(try NIOSSLCertificate.fromPEMBytes([UInt8](text("root.pem").utf8)).first) }
        }

        func file(_ name: String) -> URL { folder.url.appendingPathComponent(name) }

        func text(_ name: String) throws -> String { String(decoding: try Data(contentsOf: file(name)), as: UTF8.self) }

        /// Runs a script in the folder, which has to succeed.
        @discardableResult
        func shell(_ script: String) throws -> String {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments = ["-ec", script]
            process.currentDirectoryURL = folder.url
            let output = file("output-\(UUID().uuidString)")
            try Data().write(to: output)
            let handle = try FileHandle(forWritingTo: output)
            process.standardInput = FileHandle.nullDevice
            (process.standardOutput, process.standardError) = (handle, handle)
            try process.run(limitedTo: .testLimit)
            try process.waitForEnd()
            let text = String(decoding: try Data(contentsOf: output), as: UTF8.self)
            try #require(process.terminationStatus == 0, "\(text)")
            return text
        }

        private static let settings = """
            [req]
            distinguished_name = name
            [name]
            [authority]
            basicConstraints = critical, CA:TRUE
            keyUsage = critical, keyCertSign
            subjectKeyIdentifier = hash
            [person]
            basicConstraints = critical, CA:FALSE
            keyUsage = critical, digitalSignature
            extendedKeyUsage = clientAuth, serverAuth
            subjectAltName = DNS:localhost

            """
    }
#endif
