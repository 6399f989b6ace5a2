// SPDX-License-Identifier: Apache-2.0
// Certificates for tests, made with swift-certificates.

#if Certificates && os(Linux)
    import Crypto
    import Foundation
    import KeychainServices
    import SwiftASN1
    import X509

    @testable import KeychainTrust

    /// A name with a key, which issues certificates.
    struct TestAuthority {
        let key: Certificate.PrivateKey
        let name: DistinguishedName

        init(_ name: String, key: Certificate.PrivateKey = .init(P256.Signing.PrivateKey())) throws {
            self.key = key
            self.name = try Self.name(name)
        }

        /// An empty text is an empty name.
        static func name(_ text: String) throws -> DistinguishedName {
            text.isEmpty ? DistinguishedName() : try DistinguishedName { CommonName(text) }
        }

        /// What the extensions of a certificate are by default.
        static func authorityExtensions(_ length: Int? = nil) throws -> Certificate.Extensions {
            try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: length))
                Critical(KeyUsage(keyCertSign: true))
            }
        }

        static func leafExtensions(_ host: String = "leaf.example") throws -> Certificate.Extensions {
            try Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                try ExtendedKeyUsage([.serverAuth, .clientAuth])
                SubjectAlternativeNames([.dnsName(host)])
            }
        }

        var root: Certificate { get throws { try issue(self, Self.authorityExtensions()) } }

        func issue(
            _ subject: TestAuthority, _ extensions: Certificate.Extensions, days: ClosedRange<Int> = -1...100,
            version: Certificate.Version = .v3, algorithm: Certificate.SignatureAlgorithm = .ecdsaWithSHA256
        ) throws -> Certificate {
            try Certificate(
                version: version, serialNumber: .init(), publicKey: subject.key.publicKey,
                notValidBefore: testDate + Double(days.lowerBound) * 86400,
                notValidAfter: testDate + Double(days.upperBound) * 86400,
                issuer: name, subject: subject.name, signatureAlgorithm: algorithm, extensions: extensions,
                issuerPrivateKey: key)
        }
    }

    /// The date of all evaluations: whole seconds, since certificates have no parts of them.
    let testDate = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down))

    extension Certificate {
        var object: SecCertificate { get throws { try .makeWithCertificate(self) } }
    }

    /// What is evaluated: the leaf, its companions and the anchors.
    struct TestChain {
        var certificates: [SecCertificate]
        var anchors: [SecCertificate]

        init(_ certificates: [Certificate], anchors: [Certificate]) throws {
            self.certificates = try certificates.map { try $0.object }
            self.anchors = try anchors.map { try $0.object }
        }

        init(objects: [SecCertificate], anchors: [SecCertificate]) {
            (certificates, self.anchors) = (objects, anchors)
        }

        func trust(_ policy: SecPolicy = SecPolicyCreateBasicX509(), date: Date = testDate) -> SecTrust {
            var trust: SecTrust?
            _ = SecTrustCreateWithCertificates(NSArray(array: certificates), policy, &trust)
            guard let trust else { preconditionFailure("there is a certificate") }
            _ = SecTrustSetAnchorCertificates(trust, NSArray(array: anchors))
            _ = SecTrustSetVerifyDate(trust, date as NSDate)
            // Do not use the user's keychain.
            trust.set { $0.keychain = { _ in [] } }
            return trust
        }

        func status(_ policy: SecPolicy = SecPolicyCreateBasicX509(), date: Date = testDate) -> OSStatus {
            trust(policy, date: date).status
        }
    }

    extension SecTrust {
        /// 0, or the code of the error.
        var status: OSStatus {
            var error: CFError?
            if SecTrustEvaluateWithError(self, &error) { return errSecSuccess }
            return OSStatus(error?.code ?? 1)
        }

        var result: SecTrustResultType {
            var result = SecTrustResultType.invalid
            _ = SecTrustGetTrustResult(self, &result)
            return result
        }
    }

    /// The certificate of the facts: of `leaf.example` and others, for clients, valid from 2024 to 2049, issued by itself.
    let clientCertificate =
        Data(
            base64Encoded: """
                MIIB0jCCAXegAwIBAgIDAKGyMAoGCCqGSM49BAMCMDcxCzAJBgNVBAYTAkRFMRUwEwYDVQQKEwwgYWNtZSAgVG9vbHMxETAPBgNVBAMTCExl\
                YWYgT25lMB4XDTI0MDEwMTAwMDAwMFoXDTQ5MTIzMTAwMDAwMFowNzELMAkGA1UEBhMCREUxFTATBgNVBAoTDCBhY21lICBUb29sczERMA8G\
                A1UEAxMITGVhZiBPbmUwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATsnL50Y0q8qFieFiHhhcFCrvvyTIq3LinweAwwquDkZF68XyLbfcWM\
                J4iktlbFNCfh4FJkdBLVAnlFeg6YcEkro3IwcDAdBgNVHQ4EFgQUowtOoCfB2lRIsURC502F2cWzi24wOgYDVR0RBDMwMYIMbGVhZi5leGFt\
                cGxlggsqLncuZXhhbXBsZYcEwAACB4EOYUBsZWFmLmV4YW1wbGUwEwYDVR0lBAwwCgYIKwYBBQUHAwIwCgYIKoZIzj0EAwIDSQAwRgIhAOVi\
                wAX8Dsjbf4PVOLwBMvt6qKo2BaqdLkG01DG1fNO+AiEA8ROOPT0+ObxlALAuM3d6qWEPclVDDPGyT3dp80GzNC4=
                """) ?? Data()
#endif
