// SPDX-License-Identifier: Apache-2.0
// A PKCS#12 file as a value: keys and certificates in one file (RFC 7292).

public import Foundation

/// The keys and certificates of a PKCS#12 file.
///
/// ```swift
/// let file = try PKCS12(data, passphrase: passphrase)
/// for identity in try file.identities() { use(identity.key, identity.chain) }
/// ```
public struct PKCS12: Sendable {
    /// An element of a file with its attributes.
    public struct Entry<Content: Sendable>: Sendable {
        public let content: Content
        /// The identifier that a key and its certificate share.
        public let localKeyIdentifier: Data?
        public let friendlyName: String?
    }

    /// A private key with its certificate, and the issuers that were found.
    public struct Identity: Sendable {
        public let key: PrivateKey
        /// The certificate of the key first, then its issuers.
        public let chain: [Certificate]
        public let name: String?

        public init(key: PrivateKey, chain: [Certificate], name: String? = nil) {
            (self.key, self.chain, self.name) = (key, chain, name)
        }
    }

    public internal(set) var keys: [Entry<PrivateKey>] = []
    public internal(set) var certificates: [Entry<Certificate>] = []

    /// Limits for the contents of a file.
    enum Limits {
        static let bytes = 16 << 20
        static let bags = 1000
        static let nesting = 4
        /// Rounds of all derivations together.
        static let rounds = 3 * DerivationLimits.rounds.upperBound
    }
}

extension PKCS12 {
    /// Each key whose certificate is in the file: the one with the same identifier, or otherwise the same friendly
    /// name.
    ///
    /// - Throws: `KeyFailure.malformed` if a certificate with the same identifier or name does not belong to the key.
    public func identities() throws(KeyFailure) -> [Identity] {
        var identities: [Identity] = []
        for key in keys {
            let candidates = certificates.filter { belongs($0, to: key) }
            guard !candidates.isEmpty else { continue }
            let label = key.content.publicKey.applicationLabel
            guard let own = candidates.first(where: { $0.content.publicKeyHash == label }) else {
                throw .malformed("PKCS#12: the certificate of a key is that of another key")
            }
            let name = key.friendlyName ?? own.friendlyName
            let chain = own.content.chain(from: certificates.map(\.content))
            identities.append(Identity(key: key.content, chain: chain, name: name))
        }
        return identities
    }

    /// The certificates that are in no chain of an identity.
    public func otherCertificates() throws(KeyFailure) -> [Certificate] {
        let used = Set(try identities().flatMap(\.chain))
        return certificates.map(\.content).filter { !used.contains($0) }
    }

    private func belongs(_ certificate: Entry<Certificate>, to key: Entry<PrivateKey>) -> Bool {
        if let identifier = key.localKeyIdentifier { return identifier == certificate.localKeyIdentifier }
        guard let name = key.friendlyName, certificate.localKeyIdentifier == nil else { return false }
        return name == certificate.friendlyName
    }
}
