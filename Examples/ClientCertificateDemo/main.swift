// SPDX-License-Identifier: Apache-2.0
// A TLS server demands a certificate of its clients. The private keys of both sides are in a throw-away vault.

import Foundation

#if NIOSSL && Certificates
    import KeychainKeyStore
    import KeychainNIOSSL
    import NIOSSL

    func run() async throws {
        let folder = try throwAwayVault()
        defer { do { try FileManager.default.removeItem(at: folder) } catch { print("left behind: \(folder.path)") } }
        let keys = KeyStore()
        let root = try issueCertificates(into: keys)

        let server = try await startServer(with: keys, clientsOf: root)
        async let serving: Void = greet(server, clients: 2)

        print("A client without a certificate: \(try await answer(server, TLSConfiguration.client(trusting: root)))")
        var tls = TLSConfiguration.client(trusting: root)
        guard let identity = try await keys.identities(tag: "client").first else { throw CocoaError(.fileNoSuchFile) }
        try tls.authenticate(as: identity, with: keys)
        print("A client with a key in the vault: \(try await answer(server, tls))")
        try await serving
    }

    do {
        try await run()
    } catch {
        print("The demonstration failed: \(error)")
        exit(1)
    }
#else
    print("Turn on the traits: swift run --traits NIOSSL,Certificates ClientCertificateDemo")
    exit(1)
#endif
