// SPDX-License-Identifier: Apache-2.0
// Verdicts on chains, beside those of the `openssl` program, and chains that are made to waste time.

#if Certificates && os(Linux)
    import Crypto
    import Foundation
    import KeychainServices
    import KeychainTestSupport
    import SwiftASN1
    import Testing
    import X509

    @testable import KeychainTrust

    @Suite("Chains")
    struct ChainTests {
        @Test(arguments: ChainRow.all) func chain_isJudgedAsTheTableSays(row: ChainRow) throws {
            let (certificates, anchors) = try row.chain()
            let trust = try TestChain(certificates, anchors: anchors).trust(SecPolicy(row.policy))
            #expect(trust.status == row.expected, "\(trust.verdict().outcome.error?.userInfo ?? [:])")
        }

        @Test(.enabled(if: OpenSSL.path != nil, OpenSSL.isMissing), arguments: ChainRow.all)
        func chain_isJudgedAsByOpenSSL(row: ChainRow) throws {
            let (certificates, anchors) = try row.chain()
            let isTrusted = try OpenSSL().verify(certificates, anchors, row.policy)
            #expect(
                (isTrusted == (row.expected == errSecSuccess)) == (row.difference == nil), "\(row.difference ?? "")")
        }

        /// Trusted here, and not by the library's own verifier: what the caller named as an anchor, and what the verifier
        /// does not compare.
        private static let notByTheLibrary: Set = [
            "leaf as anchor", "issued by itself, as anchor", "without a subject, with critical names",
            "permitted mailbox",
            "permitted subject", "policy that is required and there",
        ]

        @Test(arguments: ChainRow.all.filter { $0.expected == errSecSuccess })
        func chain_thatIsTrusted_isTrustedByTheLibraryToo(row: ChainRow) async throws {
            let (certificates, anchors) = try row.chain()
            var verifier = Verifier(rootCertificates: CertificateStore(anchors)) { RFC5280Policy() }
            let result = await verifier.validate(
                leaf: certificates[0], intermediates: CertificateStore(certificates.dropFirst()))
            let isTrusted = if case .validCertificate = result { true } else { false }
            #expect(isTrusted != Self.notByTheLibrary.contains(row.testDescription))
        }

        @Test func signature_thatWasChanged_isNeverExcused() throws {
            let top = try TestAuthority("R")
            let (root, leaf) = (try top.root, try top.issue(TestAuthority("L"), TestAuthority.leafExtensions()))
            var der = [UInt8](SecCertificateCopyData(try leaf.object) as Data)
            // A byte of the serial number.
            der[20] ^= 1
            let changed = try #require(SecCertificateCreateWithData(nil, NSData(data: Data(der))))
            let trust = TestChain(objects: [changed], anchors: [try root.object]).trust()
            #expect(trust.status == errSecInvalidCertificateRef && trust.result == .fatalTrustFailure)
            #expect(SecTrustSetExceptions(trust, SecTrustCopyExceptions(trust)))
            #expect(trust.status == errSecInvalidCertificateRef)
            #expect(SecTrustGetCertificateCount(trust) == 1)
        }

        @Test func certificate_thatTheLibraryDoesNotRead_isNotTrusted() throws {
            let top = try TestAuthority("R")
            let twice = Certificate.Extension(oid: [1, 2, 3], critical: false, value: [5, 0])
            let leaf = try top.issue(TestAuthority("L"), .init([twice]))
            // The extension 1.2.4 becomes a second 1.2.3.
            let other = try top.issue(
                TestAuthority("L"), .init([twice, .init(oid: [1, 2, 4], critical: false, value: [5, 0])]))
            var der = [UInt8](SecCertificateCopyData(try other.object) as Data)
            let place = try #require(der.indices.first { der[$0...].starts(with: [6, 2, 0x2A, 4]) })
            der[place + 3] = 3
            let object = try #require(SecCertificateCreateWithData(nil, NSData(data: Data(der))))
            let anchors = [try top.root.object]
            #expect(TestChain(objects: [object], anchors: anchors).status() == errSecCertificateDuplicateExtension)
            #expect(TestChain(objects: [try leaf.object], anchors: anchors).status() == errSecSuccess)
        }

        /// Every byte of a certificate, changed: nothing traps, and nothing is trusted but what the signature leaves out.
        @Test func certificate_withAnyByteChanged_isNotTrusted() throws {
            let top = try TestAuthority("R")
            let leaf = try top.issue(TestAuthority("L"), TestAuthority.leafExtensions())
            let (der, root) = ([UInt8](SecCertificateCopyData(try leaf.object) as Data), try top.root.object)
            for place in stride(from: 0, to: der.count, by: 3) {
                var changed = der
                changed[place] ^= 0x41
                guard let object = SecCertificateCreateWithData(nil, NSData(data: Data(changed))) else { continue }
                #expect(TestChain(objects: [object], anchors: [root]).status() != errSecSuccess, "byte \(place)")
            }
        }

        /// Twelve authorities that issued each other allow more chains than can be tried.
        @Test func authorities_thatAllIssuedEachOther_endTheSearch() throws {
            let authorities = try (0..<12).map { try TestAuthority("\($0)") }
            let extensions = try TestAuthority.authorityExtensions()
            var certificates = [try authorities[0].issue(TestAuthority("L"), TestAuthority.leafExtensions())]
            for issuer in authorities {
                for subject in authorities where subject.name != issuer.name {
                    certificates.append(try issuer.issue(subject, extensions))
                }
            }
            let root = try TestAuthority("R")
            #expect(try TestChain(certificates, anchors: [root.root]).status() == errSecCreateChainFailed)
            // With an anchor in reach, the likeliest issuer is tried first.
            #expect(try TestChain(certificates, anchors: [authorities[7].root]).status() == errSecSuccess)
        }

        @Test func manyCertificates_ofTheIssuersName_endTheSearch() throws {
            let (root, issuer) = (try TestAuthority("R"), try TestAuthority("I"))
            let leaf = try issuer.issue(TestAuthority("L"), TestAuthority.leafExtensions()).object
            let authority = try root.issue(issuer, TestAuthority.authorityExtensions()).object
            let template = [UInt8](SecCertificateCopyData(try TestAuthority("I").root.object) as Data)
            // 10,000 certificates that differ in their signatures.
            let others = (0..<10_000).compactMap { number -> SecCertificate? in
                var der = template
                (der[der.count - 1], der[der.count - 2]) = (UInt8(number & 0xFF), UInt8(number >> 8))
                return SecCertificateCreateWithData(nil, NSData(data: Data(der)))
            }
            #expect(others.count == 10_000)
            let anchors = [try root.root.object]
            #expect(TestChain(objects: [leaf] + others, anchors: anchors).status() != errSecSuccess)
            // An anchor of the caller comes first.
            #expect(TestChain(objects: [leaf] + others, anchors: [authority]).status() == errSecSuccess)
        }

        @Test func chain_ofTwentyAuthorities_isTooLong() throws {
            let authorities = try (0..<20).map { try TestAuthority("\($0)") }
            let extensions = try TestAuthority.authorityExtensions()
            let pairs = zip(authorities, authorities.dropFirst())
            let leaf = try authorities[19].issue(TestAuthority("L"), TestAuthority.leafExtensions())
            let certificates = [leaf] + (try pairs.map { try $0.issue($1, extensions) })
            #expect(try TestChain(certificates, anchors: [authorities[0].root]).status() == errSecCreateChainFailed)
            #expect(try TestChain(certificates, anchors: [authorities[10].root]).status() == errSecSuccess)
        }

        /// From threads and from tasks, while others set and take back anchors.
        @Test func evaluations_fromManyThreadsAndTasks_allEnd() async throws {
            let top = try TestAuthority("R")
            let chain = try TestChain(
                [top.issue(TestAuthority("L"), TestAuthority.leafExtensions())], anchors: [top.root])
            let (trust, anchors) = (chain.trust(), chain.anchors)
            await withTaskGroup(of: Bool.self) { group in
                for number in 0..<64 {
                    group.addTask {
                        _ = SecTrustSetAnchorCertificates(trust, number % 2 == 0 ? NSArray() : NSArray(array: anchors))
                        return [errSecSuccess, errSecNotTrusted].contains(trust.status)
                    }
                }
                for await isJudged in group { #expect(isJudged) }
            }
            DispatchQueue.concurrentPerform(iterations: 64) { _ in
                _ = SecTrustSetAnchorCertificates(trust, NSArray(array: anchors))
                #expect(trust.status == errSecSuccess)
            }
        }
    }

    /// The `openssl` program.
    struct OpenSSL {
        static let path = Programs.installed("openssl")
        static let isMissing: Comment = "the openssl program is not installed"

        let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder.inMemory("keychain-trust") }

        func verify(_ certificates: [Certificate], _ anchors: [Certificate], _ policy: TrustPolicy) throws -> Bool {
            try write(certificates.prefix(1), "leaf")
            try write(certificates.dropFirst(), "others")
            try write(anchors[...], "anchors")
            var words = ["verify", "-attime", "\(Int(testDate.timeIntervalSince1970))", "-auth_level", "2"]
            words += ["-no-CApath", "-no-CAstore", "-partial_chain", "-CAfile", "anchors"]
            // It takes no empty file.
            if certificates.count > 1 { words += ["-untrusted", "others"] }
            if case .tls(let isServer, let host) = policy {
                words += ["-purpose", isServer ? "sslserver" : "sslclient"]
                if let host { words += ["-verify_hostname", host] }
            }
            return try run(words + ["leaf"])
        }

        func write(_ certificates: ArraySlice<Certificate>, _ name: String) throws {
            let text = try certificates.map { try $0.serializeAsPEM().pemString }.joined(separator: "\n")
            try write(text, name)
        }

        func write(_ text: String, _ name: String) throws {
            try Data(text.utf8).write(to: folder.url.appendingPathComponent(name))
        }

        /// - Returns: Whether it succeeds.
        func run(_ words: [String]) throws -> Bool {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: try #require(Self.path))
            process.arguments = words
            process.currentDirectoryURL = folder.url
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.run(limitedTo: .testLimit)
            try process.waitForEnd()
            return process.terminationStatus == 0
        }
    }
#endif
