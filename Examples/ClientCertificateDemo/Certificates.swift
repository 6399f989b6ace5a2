// SPDX-License-Identifier: Apache-2.0
// A root and two certificates, as an authority would issue them, and the vault that they go to.

#if NIOSSL && Certificates
    import Crypto
    import Foundation
    import KeychainKeyStore
    import NIOSSL
    import SwiftASN1
    import X509

    /// Makes the private keys "server" and "client" in the keychain, and puts their certificates beside them. No call gives these keys out.
    ///
    /// - Returns: The root that issued the certificates.
    func issueCertificates(into keys: KeyStore) throws -> NIOSSLCertificate {
        let authority = Certificate.PrivateKey(P256.Signing.PrivateKey())
        let name = try DistinguishedName { CommonName("Demo Root") }
        let root = try certificate(
            of: authority.publicKey, name, by: authority, name,
            Certificate.Extensions { Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil)) })
        for tag in ["server", "client"] {
            _ = try keys.create(.p256, tag: tag, protection: .notExportable)
            guard let signer = try keys.signer(tag: tag) else { throw CocoaError(.fileNoSuchFile) }
            let key = try P256.Signing.PublicKey(derRepresentation: signer.publicKey)
            let issued = try certificate(
                of: Certificate.PublicKey(key), DistinguishedName { CommonName(tag) }, by: authority, name,
                Certificate.Extensions {
                    Critical(BasicConstraints.notCertificateAuthority)
                    try ExtendedKeyUsage([tag == "server" ? .serverAuth : .clientAuth])
                    SubjectAlternativeNames([.dnsName("localhost")])
                })
            try keys.save(KeychainCertificate(der: Data(issued)))
        }
        return try NIOSSLCertificate(bytes: root, format: .der)
    }

    private func certificate(
        of key: Certificate.PublicKey, _ name: DistinguishedName, by issuer: Certificate.PrivateKey,
        _ issuerName: DistinguishedName, _ extensions: Certificate.Extensions
    ) throws -> [UInt8] {
        let certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: key,
            notValidBefore: Date() - 3600, notValidAfter: Date() + 86_400, issuer: issuerName, subject: name,
            signatureAlgorithm: .ecdsaWithSHA256, extensions: extensions, issuerPrivateKey: issuer)
        var serializer = DER.Serializer()
        try serializer.serialize(certificate)
        return serializer.serializedBytes
    }

    /// Makes a vault in a folder of its own that of this process.
    func throwAwayVault() throws -> URL {
        let name = "ClientCertificateDemo-\(UUID().uuidString)"
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(name)
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        setenv("KEYCHAIN_VAULT", folder.path + "/vault", 1)
        setenv("KEYCHAIN_DEVICE_KEY", folder.path + "/config/device.key", 1)
        setenv("XDG_STATE_HOME", folder.path + "/state", 1)
        setenv("KEYCHAIN_ANCHORS", "file", 1)
        return folder
    }
#endif
