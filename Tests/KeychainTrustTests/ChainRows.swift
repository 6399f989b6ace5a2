// SPDX-License-Identifier: Apache-2.0
// Chains, and what is found in them.

#if Certificates && os(Linux)
    import Crypto
    import CryptoExtras
    import Foundation
    import KeychainServices
    import SwiftASN1
    import Testing
    import X509

    @testable import KeychainTrust

    /// A chain to judge.
    struct ChainRow: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let expected: OSStatus
        let policy: TrustPolicy
        /// What the `openssl` program judges differently, and why; `nil` if it agrees.
        let difference: String?
        let chain: @Sendable () throws -> (certificates: [Certificate], anchors: [Certificate])

        init(
            _ name: String, _ expected: OSStatus, _ policy: TrustPolicy = .basic, difference: String? = nil,
            _ chain: @escaping @Sendable () throws -> ([Certificate], [Certificate])
        ) {
            (testDescription, self.expected, self.policy) = (name, expected, policy)
            (self.difference, self.chain) = (difference, chain)
        }

        static let server = TrustPolicy.tls(isServer: true, host: "leaf.example")
        static let client = TrustPolicy.tls(isServer: false, host: nil)

        static let all = basics + authorities + extensions + names + crossSigned
    }

    extension ChainRow {
        typealias Extensions = Certificate.Extensions

        /// A root, an authority below it, and a leaf. Each closure replaces a part.
        private static func three(
            leaf: Extensions? = nil, authority: Extensions? = nil, root: Extensions? = nil,
            leafDays: ClosedRange<Int> = -1...100,
            authorityDays: ClosedRange<Int> = -1...100, rootDays: ClosedRange<Int> = -1...100, subject: String = "L"
        ) throws -> ([Certificate], [Certificate]) {
            let (top, middle, bottom) = (try TestAuthority("R"), try TestAuthority("I"), try TestAuthority(subject))
            let anchor = try top.issue(top, root ?? TestAuthority.authorityExtensions(), days: rootDays)
            return (
                [
                    try middle.issue(bottom, leaf ?? TestAuthority.leafExtensions(), days: leafDays),
                    try top.issue(middle, authority ?? TestAuthority.authorityExtensions(), days: authorityDays),
                ], [anchor]
            )
        }

        private static let basics = [
            ChainRow("three", errSecSuccess, server) { try three() },
            ChainRow("three, for a client", errSecSuccess, client) { try three() },
            ChainRow("another host", errSecHostNameMismatch, .tls(isServer: true, host: "x.example")) { try three() },
            ChainRow("leaf expired", errSecCertificateExpired) { try three(leafDays: -9...(-1)) },
            ChainRow("leaf not valid yet", errSecCertificateExpired) { try three(leafDays: 1...9) },
            ChainRow("authority expired", errSecCertificateExpired) { try three(authorityDays: -9...(-1)) },
            ChainRow("root expired", errSecCertificateExpired) { try three(rootDays: -9...(-1)) },
            ChainRow("825 days", errSecSuccess, server) { try three(leafDays: -1...824) },
            ChainRow("826 days", errSecCertificateValidityPeriodTooLong, server, difference: "no limit of lifetimes") {
                try three(leafDays: -1...825)
            },
            ChainRow("826 days, for a client", errSecSuccess, client) { try three(leafDays: -1...825) },
            ChainRow("no issuer", errSecNotTrusted) { (try Array(three().0.prefix(1)), try three().1) },
            ChainRow("root that is not trusted", errSecNotTrusted) {
                let chain = try three()
                return (chain.0 + chain.1, [])
            },
            ChainRow("authority as anchor", errSecSuccess) {
                let chain = try three()
                return (Array(chain.0.prefix(1)), [chain.0[1]])
            },
            ChainRow("leaf as anchor", errSecSuccess, server) {
                let leaf = try three().0[0]
                return ([leaf], [leaf])
            },
            ChainRow("issued by itself, as anchor", errSecSuccess, server) {
                let itself = try TestAuthority("S")
                let leaf = try itself.issue(itself, TestAuthority.leafExtensions())
                return ([leaf], [leaf])
            },
            ChainRow("RSA of 1024 bits", errSecUnsupportedKeySize) {
                let (top, weak) = (try TestAuthority("R"), _RSA.Signing.PrivateKey.self)
                let key = try weak.init(unsafeKeySize: .init(bitCount: 1024))
                let leaf = try TestAuthority("L", key: .init(key))
                return ([try top.issue(leaf, TestAuthority.leafExtensions())], [try top.root])
            },
            ChainRow("authority with RSA of 1024 bits", errSecUnsupportedKeySize) {
                let key = try _RSA.Signing.PrivateKey(unsafeKeySize: .init(bitCount: 1024))
                let (top, weak) = (try TestAuthority("R"), try TestAuthority("I", key: .init(key)))
                let leaf = try weak.issue(
                    TestAuthority("L"), TestAuthority.leafExtensions(), algorithm: .sha256WithRSAEncryption)
                return ([leaf, try top.issue(weak, TestAuthority.authorityExtensions())], [try top.root])
            },
            ChainRow("SHA-1", errSecInvalidDigestAlgorithm) {
                let top = try TestAuthority("R", key: .init(.init(keySize: .bits2048)))
                let root = try top.issue(
                    top, TestAuthority.authorityExtensions(), algorithm: .sha1WithRSAEncryption)
                let leaf = try top.issue(
                    TestAuthority("L"), TestAuthority.leafExtensions(), algorithm: .sha1WithRSAEncryption)
                return ([leaf], [root])
            },
            ChainRow("SHA-1 of the root alone", errSecSuccess) {
                let top = try TestAuthority("R", key: .init(.init(keySize: .bits2048)))
                let root = try top.issue(
                    top, TestAuthority.authorityExtensions(), algorithm: .sha1WithRSAEncryption)
                let leaf = try top.issue(
                    TestAuthority("L"), TestAuthority.leafExtensions(), algorithm: .sha256WithRSAEncryption)
                return ([leaf], [root])
            },
            ChainRow("another key of the issuer's name", errSecInvalidCertificateRef) {
                (try three().0.prefix(1) + [try three().0[1]], try three().1)
            },
        ]

        private static let authorities = [
            ChainRow("authority without constraints", errSecNoBasicConstraints) { try three(authority: .init()) },
            ChainRow("authority that is none", errSecNoBasicConstraintsCA) {
                try three(
                    authority: .init {
                        BasicConstraints.notCertificateAuthority
                        KeyUsage(keyCertSign: true)
                    })
            },
            ChainRow("root that is no authority", errSecNoBasicConstraintsCA) {
                try three(root: .init { BasicConstraints.notCertificateAuthority })
            },
            ChainRow("root of version 1", errSecSuccess) {
                let (top, leaf) = (try TestAuthority("R"), try TestAuthority("L"))
                return (
                    [try top.issue(leaf, TestAuthority.leafExtensions())], [try top.issue(top, .init(), version: .v1)]
                )
            },
            ChainRow("key that is not for certificates", errSecInvalidKeyUsageForPolicy) {
                try three(
                    authority: .init {
                        Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                        Critical(KeyUsage(digitalSignature: true))
                    })
            },
            ChainRow("path length", errSecPathLengthConstraintExceeded) {
                try three(root: TestAuthority.authorityExtensions(0))
            },
            ChainRow("path length that suffices", errSecSuccess) {
                try three(authority: TestAuthority.authorityExtensions(0), root: TestAuthority.authorityExtensions(1))
            },
            ChainRow("purposes of an authority", errSecInvalidExtendedKeyUsage, server) {
                try three(
                    authority: .init {
                        Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                        try ExtendedKeyUsage([.clientAuth])
                    })
            },
            ChainRow("key that is not named", errSecInvalidIDLinkage) {
                try three(
                    leaf: .init { AuthorityKeyIdentifier(keyIdentifier: [1, 2]) },
                    authority: .init {
                        Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                        SubjectKeyIdentifier(keyIdentifier: [3, 4])
                    })
            },
        ]

        private static func purpose(_ usage: ExtendedKeyUsage.Usage) throws -> Extensions {
            try Extensions {
                try ExtendedKeyUsage([usage])
                SubjectAlternativeNames([.dnsName("leaf.example")])
            }
        }

        private static let extensions = [
            ChainRow("for clients, as a server", errSecInvalidExtendedKeyUsage, server) {
                try three(leaf: purpose(.clientAuth))
            },
            ChainRow("for servers, as a client", errSecInvalidExtendedKeyUsage, client) {
                try three(leaf: purpose(.serverAuth))
            },
            ChainRow("for clients, whatever for", errSecSuccess) { try three(leaf: purpose(.clientAuth)) },
            ChainRow("without purposes, as a server", errSecInvalidExtendedKeyUsage, server, difference: "not required")
            {
                try three(leaf: .init { SubjectAlternativeNames([.dnsName("leaf.example")]) })
            },
            ChainRow("without purposes, as a client", errSecSuccess, client) { try three(leaf: .init()) },
            ChainRow("unknown critical extension", errSecUnknownCriticalExtensionFlag) {
                try three(leaf: .init([.init(oid: [1, 2, 3, 4], critical: true, value: [5, 0])]))
            },
            ChainRow("unknown extension", errSecSuccess) {
                try three(leaf: .init([.init(oid: [1, 2, 3, 4], critical: false, value: [5, 0])]))
            },
            ChainRow("purpose and policy made of a UUID", errSecSuccess) {
                // The example of X.667.
                let name: [UInt8] = [
                    0x06, 0x14, 0x69, 0x83, 0xF0, 0x9D, 0xA7, 0xEB, 0xCF, 0xDE, 0xE0,
                    0xC7, 0xA1, 0xA7, 0xB2, 0xC0, 0x94, 0x8C, 0xC8, 0xF9, 0xD7, 0x76,
                ]
                let (list, policies) = ([0x30, 0x16] + name, [0x30, 0x18, 0x30, 0x16] + name)
                return try three(
                    leaf: .init([
                        .init(oid: [2, 5, 29, 37], critical: false, value: list[...]),
                        .init(oid: [2, 5, 29, 32], critical: false, value: policies[...]),
                    ]))
            },
            ChainRow("malformed extension", errSecUnknownCertExtension) {
                try three(leaf: .init([.init(oid: [2, 5, 29, 37], critical: false, value: [5, 0])]))
            },
            ChainRow("without a subject", errSecInvalidSubjectName, difference: "allowed without -x509_strict") {
                try three(subject: "")
            },
            ChainRow("without a subject, with critical names", errSecSuccess) {
                try three(leaf: .init { Critical(SubjectAlternativeNames([.dnsName("leaf.example")])) }, subject: "")
            },
            ChainRow("policy that is required", errSecInvalidPolicyIdentifiers, difference: "not checked by default") {
                // requireExplicitPolicy 0
                try three(
                    authority: .init([
                        .init(BasicConstraints.isCertificateAuthority(maxPathLength: nil), critical: true),
                        .init(oid: [2, 5, 29, 36], critical: true, value: [0x30, 3, 0x80, 1, 0]),
                    ]))
            },
            ChainRow("policy that is required and there", errSecSuccess) {
                // anyPolicy, and the policy 1.2.3
                let value: ArraySlice<UInt8> = [0x30, 6, 0x30, 4, 6, 2, 0x2A, 3]
                let any: ArraySlice<UInt8> = [0x30, 8, 0x30, 6, 6, 4, 0x55, 0x1D, 0x20, 0]
                return try three(
                    leaf: .init([.init(oid: [2, 5, 29, 32], critical: false, value: value)]),
                    authority: .init([
                        .init(BasicConstraints.isCertificateAuthority(maxPathLength: nil), critical: true),
                        .init(oid: [2, 5, 29, 32], critical: false, value: any),
                        .init(oid: [2, 5, 29, 36], critical: true, value: [0x30, 3, 0x80, 1, 0]),
                    ]))
            },
        ]

        private static func constrained(
            _ names: [GeneralName], permitted: [GeneralName] = [], excluded: [GeneralName] = []
        ) throws -> ([Certificate], [Certificate]) {
            try three(
                leaf: .init { SubjectAlternativeNames(names) },
                authority: .init {
                    Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                    Critical(NameConstraints(permittedSubtrees: permitted, excludedSubtrees: excluded))
                })
        }

        private static func address(_ bytes: UInt8...) -> GeneralName {
            .ipAddress(ASN1OctetString(contentBytes: bytes[...]))
        }

        private static let names = [
            ChainRow("permitted host", errSecSuccess) {
                try constrained([.dnsName("a.leaf.EXAMPLE")], permitted: [.dnsName("leaf.example")])
            },
            ChainRow("host that is not permitted", errSecInvalidName) {
                try constrained([.dnsName("aleaf.example")], permitted: [.dnsName("leaf.example")])
            },
            ChainRow("excluded host", errSecInvalidName) {
                try constrained([.dnsName("a.leaf.example")], excluded: [.dnsName("leaf.example")])
            },
            ChainRow("wildcard for an excluded host", errSecInvalidName, difference: "compared as text") {
                try constrained([.dnsName("*.leaf.example")], excluded: [.dnsName("a.leaf.example")])
            },
            ChainRow("permitted address", errSecSuccess) {
                try constrained([address(192, 0, 2, 7)], permitted: [address(192, 0, 2, 0, 255, 255, 255, 0)])
            },
            ChainRow("address that is not permitted", errSecInvalidName) {
                try constrained([address(192, 0, 3, 7)], permitted: [address(192, 0, 2, 0, 255, 255, 255, 0)])
            },
            ChainRow("permitted mailbox", errSecSuccess) {
                try constrained([.rfc822Name("a@leaf.example")], permitted: [.rfc822Name("leaf.example")])
            },
            ChainRow("excluded mailbox", errSecInvalidName) {
                try constrained([.rfc822Name("a@leaf.example")], excluded: [.rfc822Name("leaf.example")])
            },
            ChainRow("excluded URI", errSecInvalidName) {
                try constrained(
                    [.uniformResourceIdentifier("https://u@a.leaf.example:1/p")],
                    excluded: [.uniformResourceIdentifier(".leaf.example")])
            },
            ChainRow("excluded subject", errSecInvalidName) {
                try constrained([.dnsName("a.example")], excluded: [.directoryName(TestAuthority.name("l"))])
            },
            ChainRow("permitted subject", errSecSuccess) {
                try constrained([.dnsName("a.example")], permitted: [.directoryName(TestAuthority.name("L"))])
            },
            ChainRow("form that is not compared", errSecInvalidName) {
                try constrained([.registeredID([1, 2, 3])], permitted: [.registeredID([1, 2, 3])])
            },
        ]

        private static let crossSigned = [
            ChainRow("authority below an expired and a valid root", errSecSuccess, difference: "tries one chain") {
                let (old, new, middle) = (try TestAuthority("O"), try TestAuthority("N"), try TestAuthority("I"))
                let authority = try TestAuthority.authorityExtensions()
                let leaf = try middle.issue(TestAuthority("L"), TestAuthority.leafExtensions())
                return (
                    [leaf, try old.issue(middle, authority), try new.issue(middle, authority)],
                    [try old.issue(old, authority, days: -9...(-1)), try new.root]
                )
            },
            ChainRow("two authorities that issued each other", errSecNotTrusted) {
                let (first, second) = (try TestAuthority("A"), try TestAuthority("B"))
                let authority = try TestAuthority.authorityExtensions()
                let leaf = try first.issue(TestAuthority("L"), TestAuthority.leafExtensions())
                return (
                    [leaf, try second.issue(first, authority), try first.issue(second, authority)],
                    [try TestAuthority("R").root]
                )
            },
            ChainRow("root that is replaced by a cross-signed one", errSecSuccess, difference: "tries one chain") {
                let (root, other) = (try TestAuthority("R"), try TestAuthority("S"))
                let leaf = try root.issue(TestAuthority("L"), TestAuthority.leafExtensions())
                return (
                    [leaf, try root.root, try other.issue(root, TestAuthority.authorityExtensions())], [try other.root]
                )
            },
        ]
    }

#endif
