// SPDX-License-Identifier: Apache-2.0
// Chains through the keychain of a program: that of the public functions, which the tests cannot use in their own process.

#if Certificates && os(Linux)
    import Foundation
    import KeychainServices
    import KeychainTestSupport
    import Testing
    import X509

    @Suite("Chains through the keychain of a program")
    struct DefaultKeychainTests {
        private let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder("keychain-chains") }

        /// The status that the program printed.
        private func run(_ command: String, _ certificates: Certificate...) throws -> String {
            let process = Process()
            let output = Pipe()
            process.executableURL = URL(fileURLWithPath: Programs.built("asking-app"))
            process.arguments = try [command] + certificates.map { try file(of: $0) }
            process.environment = [
                "HOME": folder.path, "PATH": "/usr/bin:/bin", "KEYCHAIN_VAULT": folder.path + "/vault",
                "KEYCHAIN_DEVICE_KEY": folder.path + "/device.key", "XDG_STATE_HOME": folder.path + "/state",
                "KEYCHAIN_ANCHORS": "file", "KEYCHAIN_AUTHENTICATOR": "none",
            ]
            process.standardOutput = output
            try process.run(limitedTo: .testLimit)
            let text = String(decoding: try output.fileHandleForReading.readAll(), as: UTF8.self)
            try process.waitForEnd()
            return text.trimmingCharacters(in: .newlines)
        }

        private func file(of certificate: Certificate) throws -> String {
            let path = folder.path + "/\(certificate.serialNumber).der"
            try (SecCertificateCopyData(certificate.object) as Data).write(to: URL(fileURLWithPath: path))
            return path
        }

        @Test func intermediate_thatAProgramKeeps_completesItsChains() throws {
            let (root, issuer) = (try TestAuthority("R"), try TestAuthority("I"))
            let leaf = try issuer.issue(TestAuthority("L"), TestAuthority.leafExtensions())
            let (intermediate, anchor) = (try root.issue(issuer, TestAuthority.authorityExtensions()), try root.root)
            #expect(try run("judge", leaf, anchor) == "\(errSecNotTrusted)")
            #expect(try run("keep", intermediate) == "0")
            #expect(try run("judge", leaf, anchor) == "0")
        }
    }
#endif
