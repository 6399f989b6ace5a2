// SPDX-License-Identifier: Apache-2.0
// TLS with identities of the keychain: the entry points of this module.

#if NIOSSL
    import KeychainKeys
    public import KeychainKeyStore
    public import KeychainKit
    public import NIOSSL

    extension TLSConfiguration {
        /// Presents an identity of the keychain to the other side: its certificate, and signatures with its private key.
        /// The key is opened only for each signature; neither the program nor NIOSSL gets it.
        ///
        /// With async-http-client:
        ///
        /// ```swift
        /// let keys = KeyStore()
        /// let usable = CertificateSearch(usage: .clientAuthentication, validAt: Date())
        /// guard let identity = try await keys.identities(matching: usable).first else { throw NoIdentity() }
        ///
        /// var tls = TLSConfiguration.makeClientConfiguration()
        /// try tls.authenticate(as: identity, with: keys)
        /// var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
        /// ```
        ///
        /// The keychain is not read here. Each handshake that needs the key opens it, signs, and wipes it, on a thread of the
        /// store; the event loop does not wait. A handshake fails with the `KeychainError` of the key, which the handlers of
        /// the channel receive before NIOSSL's own error: `locked`, `itemNotFound` if the key was removed or replaced,
        /// `interactionNotAllowed`, or `timedOut` after the ``KeychainKeyStore/KeyStore/timeout`` of the store. If the
        /// connection is closed meanwhile, the question to the user is withdrawn. async-http-client connects again until its own
        /// timeout, unless `connectionPool.retryConnectionEstablishment` is `false`.
        ///
        /// TLS 1.2 and 1.3 are supported. Earlier versions need SHA-1, with which no key signs here. With TLS 1.2, servers may
        /// accept a client's P-521 key only if `curves` contains `secp521r1`, which NIOSSL does not offer by itself.
        ///
        /// - Parameters:
        ///   - identity: An identity of the store. After a renewal, make a new configuration with the new one.
        ///   - keys: The store of the private key. Its `context` and `allowsInteraction` apply to each handshake.
        /// - Throws: `unsupported` for a key that does not sign; `undecodableInput` for a certificate that NIOSSL does not
        ///   read. Then nothing was changed.
        public mutating func authenticate(as identity: KeychainIdentity, with keys: KeyStore) throws(KeychainError) {
            let (chain, signer) = (try identity.certificateSources, try keys.signer(of: identity))
            (certificateChain, privateKey) = (chain, .privateKey(NIOSSLPrivateKey(signer)))
        }

        /// The configuration of a server with an identity of the keychain, as `authenticate(as:with:)` describes it.
        ///
        /// ```swift
        /// let configuration = try TLSConfiguration.makeServerConfiguration(authenticatedAs: identity, with: keys)
        /// ```
        ///
        /// A `NIOSSLServerHandler` takes it, and so does the `server` of a Hummingbird application: `.tls(tlsConfiguration:)`.
        ///
        /// Key exchange by RSA decryption, without forward secrecy, is turned off: a key of the keychain only signs.
        ///
        /// - Throws: As `authenticate(as:with:)`.
        public static func makeServerConfiguration(
            authenticatedAs identity: KeychainIdentity, with keys: KeyStore
        ) throws(KeychainError) -> TLSConfiguration {
            let (chain, signer) = (try identity.certificateSources, try keys.signer(of: identity))
            var configuration = makeServerConfiguration(
                certificateChain: chain, privateKey: .privateKey(NIOSSLPrivateKey(signer)))
            configuration.cipherSuites += ":!kRSA"
            return configuration
        }
    }

    extension KeychainIdentity {
        /// Its certificates as NIOSSL sends them: that of the key first, then its issuers that are stored. A root is left out,
        /// since the other side only trusts its own copy.
        ///
        /// - Throws: `undecodableInput` for a certificate that NIOSSL does not read.
        public var certificateSources: [NIOSSLCertificateSource] {
            get throws(KeychainError) {
                var sources: [NIOSSLCertificateSource] = []
                for (index, certificate) in chain.enumerated() where index == 0 || !certificate.isRoot {
                    sources.append(.certificate(try certificate.forNIOSSL))
                }
                return sources
            }
        }
    }

    extension KeychainCertificate {
        fileprivate var isRoot: Bool {
            content.normalizedIssuer != nil && content.normalizedIssuer == content.normalizedSubject
        }

        fileprivate var forNIOSSL: NIOSSLCertificate {
            get throws(KeychainError) {
                do {
                    return try NIOSSLCertificate(bytes: [UInt8](der), format: .der)
                } catch {
                    throw KeychainError(
                        .undecodableInput, "NIOSSL does not read the certificate '\(name ?? fingerprint)'. Renew it.")
                }
            }
        }
    }
#endif
