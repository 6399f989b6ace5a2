// SPDX-License-Identifier: Apache-2.0
// The functions of SecTrust and SecPolicy.

#if Certificates && os(Linux)
    import Foundation
    import KeychainServices
    import KeychainTestSupport
    import Security
    import Testing
    import X509

    @testable import KeychainTrust

    @Suite("Trust")
    struct TrustTests {
        private let object: SecCertificate
        private var itself: TestChain { TestChain(objects: [object], anchors: [object]) }

        init() throws { object = try #require(SecCertificateCreateWithData(nil, clientCertificate as NSData)) }

        /// K100.
        @Test func creation_ofOtherObjects_isRefused() {
            let (policy, data) = (SecPolicyCreateBasicX509(), NSData(data: clientCertificate))
            let rows: [(AnyObject, AnyObject?, OSStatus)] = [
                (object, policy, errSecSuccess),
                (NSArray(array: [object, object]), NSArray(array: [policy]), errSecSuccess),
                (object, nil, errSecSuccess), (NSArray(), policy, errSecParam), (data, policy, errSecParam),
                (NSArray(array: [object, data]), policy, errSecParam), (object, object, errSecParam),
                (object, NSArray(), errSecParam), (NSArray(array: [NSArray(array: [object])]), nil, errSecParam),
            ]
            for (number, row) in rows.enumerated() {
                var trust: SecTrust?
                #expect(SecTrustCreateWithCertificates(row.0, row.1, &trust) == row.2, "row \(number)")
                #expect((trust != nil) == (row.2 == errSecSuccess), "row \(number)")
            }
        }

        /// K101.
        @Test func leaf_thatIsAnAnchor_isTrustedAndNoOther() throws {
            #expect(itself.status() == errSecSuccess)
            let alone = TestChain(objects: [object], anchors: [])
            #expect(alone.status() == errSecNotTrusted && alone.trust().result == .recoverableTrustFailure)
            let trust = alone.trust()
            #expect(SecTrustSetAnchorCertificates(trust, nil) == errSecSuccess)
            #expect([errSecNotTrusted, errSecTrustNotAvailable].contains(trust.status))
        }

        /// K102: its lifetime, and purposes without a server.
        @Test func clientCertificate_forAServer_isNotTrusted() throws {
            let trust = itself.trust(SecPolicyCreateSSL(true, "leaf.example"))
            #expect(trust.status == errSecCertificateValidityPeriodTooLong)
            let error = try #require(trust.verdict().outcome.error)
            #expect(error.domain == "NSOSStatusErrorDomain")
            let details = try #require(error.userInfo[NSUnderlyingErrorKey] as? NSError)
            #expect(details.code == error.code && details.localizedDescription.contains("other purposes"))
            #expect(error.localizedDescription.contains("\"Leaf One\""))
        }

        /// K103, and names that only look like hosts.
        @Test(arguments: [
            ("w.example", errSecHostNameMismatch), ("a.w.example", errSecSuccess),
            ("a.b.w.example", errSecHostNameMismatch), ("LEAF.example.", errSecSuccess), ("192.0.2.7", errSecSuccess),
            ("192.0.2.8", errSecHostNameMismatch), ("192.0.2.7\0x", errSecHostNameMismatch),
            ("", errSecHostNameMismatch),
            ("leaf.example..", errSecHostNameMismatch), ("Leaf One", errSecHostNameMismatch),
            ("*.w.example", errSecSuccess), (".leaf.example", errSecHostNameMismatch),
        ])
        func host_ofAClient_isCheckedIfGiven(host: String, expected: OSStatus) {
            #expect(itself.status(SecPolicyCreateSSL(false, host as NSString)) == expected)
            #expect(itself.status(SecPolicyCreateSSL(false, nil)) == errSecSuccess)
        }

        /// K104.
        @Test func exceptions_forAnExpiredCertificate_letItProceed() throws {
            let late = Date(timeIntervalSince1970: 2_600_000_000)
            let trust = itself.trust(date: late)
            #expect(trust.status == errSecCertificateExpired)
            let exceptions = try #require(SecTrustCopyExceptions(trust))
            #expect((exceptions as Data).starts(with: "bplist00".utf8))
            #expect(SecTrustSetExceptions(trust, exceptions))
            #expect(trust.status == errSecSuccess && trust.result == .proceed)
            // They excuse what they were made for, and nothing else.
            #expect(SecTrustSetPolicies(trust, SecPolicyCreateSSL(false, "x.example")) == errSecSuccess)
            #expect(trust.status == errSecHostNameMismatch)
            #expect(!SecTrustSetExceptions(trust, nil))
            #expect(SecTrustSetPolicies(trust, SecPolicyCreateBasicX509()) == errSecSuccess)
            #expect(trust.status == errSecCertificateExpired)
        }

        @Test func exceptions_ofAnotherLeafOrUnreadable_areRefused() throws {
            let other = try TestAuthority("Other").root.object
            let trust = TestChain(objects: [other], anchors: []).trust()
            let foreign = try #require(SecTrustCopyExceptions(itself.trust()))
            // Elements within elements, as text and as a binary list.
            let text = Data(("<plist>" + String(repeating: "<array>", count: 100_000)).utf8)
            let (short, long) = (Self.nestedList(1_000), Self.nestedList(60_000))
            let endless = Data.listWithAnEndlessArray()
            for data in [foreign as Data, Data(), Data("x".utf8), text, short, long, endless, Data("bplist00".utf8)] {
                #expect(!SecTrustSetExceptions(trust, data as NSData), "\(data.count) bytes")
            }
            #expect(trust.status == errSecNotTrusted)
        }

        /// A binary property list of arrays within each other.
        private static func nestedList(_ depth: Int) -> Data {
            func bytes(_ number: Int) -> [UInt8] { [UInt8(number >> 8), UInt8(number & 0xFF)] }
            var data = Data("bplist00".utf8)
            for number in 1..<depth { data += [0xA1] + bytes(number) }
            // An empty array, and the places of all.
            data += [0xA0]
            let table = data.count
            for number in 0..<depth { data += bytes((8 + 3 * number) & 0xFFFF) }
            let trailer: [UInt8] = [0, 0, 0, 0, 0, 0, 2, 2]
            return data + trailer
                + [depth, 0, table].flatMap { [0, 0, 0, 0, 0, UInt8($0 >> 16)] + bytes($0 & 0xFFFF) }
        }

        @Test(arguments: [
            (-1e12, errSecCertificateExpired), (-1, errSecCertificateExpired), (1e12, errSecCertificateExpired),
            (Double.nan, errSecCertificateExpired), (.infinity, errSecCertificateExpired),
            (1_748_736_000, errSecSuccess),
        ])
        func date_ofAnyTime_isCompared(seconds: Double, expected: OSStatus) {
            #expect(itself.status(date: Date(timeIntervalSince1970: seconds)) == expected)
        }

        @Test func chain_ofATrustedLeaf_goesToTheRoot() throws {
            let (root, issuer, leaf) = (try TestAuthority("R"), try TestAuthority("I"), try TestAuthority("L"))
            let certificates = [
                try issuer.issue(leaf, TestAuthority.leafExtensions()),
                try root.issue(issuer, TestAuthority.authorityExtensions()), try root.root,
            ]
            let chain = try TestChain([certificates[0], certificates[2], certificates[1]], anchors: [certificates[2]])
            let trust = chain.trust()
            #expect(SecTrustCopyResult(trust) == nil)
            let found = SecTrustCopyCertificateChain(trust) as? [SecCertificate]
            #expect(try found == certificates.map { try $0.object })
            #expect(SecTrustGetCertificateCount(trust) == 3 && trust.result == .unspecified)
            #expect(SecTrustGetCertificateAtIndex(trust, 2) == found?[2])
            #expect(SecTrustGetCertificateAtIndex(trust, 3) == nil && SecTrustGetCertificateAtIndex(trust, -1) == nil)
            #expect(SecTrustCopyKey(trust) == found.flatMap { SecCertificateCopyKey($0[0]) })
            #expect(SecTrustCopyPublicKey(trust) == SecTrustCopyKey(trust))
            #expect(SecTrustCopyResult(trust)?[kSecTrustResultValue] as? UInt32 == 4)
        }

        @Test func anchors_setAndTakenBack_decideAnew() throws {
            let trust = itself.trust()
            #expect(trust.status == errSecSuccess)
            var anchors: CFArray?
            #expect(SecTrustCopyCustomAnchorCertificates(trust, &anchors) == errSecSuccess && anchors?.count == 1)
            #expect(SecTrustSetAnchorCertificates(trust, NSArray(array: [NSData()])) == errSecParam)
            #expect(
                SecTrustSetAnchorCertificates(trust, NSArray()) == errSecSuccess && trust.status == errSecNotTrusted)
            #expect(SecTrustSetAnchorCertificates(trust, NSArray(array: [object])) == errSecSuccess)
            #expect(SecTrustSetAnchorCertificatesOnly(trust, false) == errSecSuccess && trust.status == errSecSuccess)
        }

        @Test func asynchronousEvaluation_answersOnItsQueue() async throws {
            let (queue, key) = (DispatchQueue(label: "trust"), DispatchSpecificKey<Bool>())
            queue.setSpecific(key: key, value: true)
            let (itself, date) = (itself, Date(timeIntervalSince1970: 0))
            for expected in [true, false] {
                let trust = expected ? itself.trust() : itself.trust(date: date)
                let answer: (Bool, Int?, Bool) = await withCheckedContinuation { continuation in
                    _ = SecTrustEvaluateAsyncWithError(trust, queue) { _, isTrusted, error in
                        let isOnQueue = DispatchQueue.getSpecific(key: key) ?? false
                        continuation.resume(returning: (isTrusted, error?.code, isOnQueue))
                    }
                }
                #expect(answer == (expected, expected ? nil : Int(errSecCertificateExpired), true))
            }
            let result = await withCheckedContinuation { continuation in
                _ = SecTrustEvaluateAsync(itself.trust(), nil) { continuation.resume(returning: $1) }
            }
            #expect(result == .unspecified)
        }

        /// Statuses can be ignored without a warning, as on Apple platforms: this is a test that it compiles.
        @Test func verifyTime_isTheDateThatIsSetOrNow() {
            let trust = itself.trust()
            #expect(SecTrustGetVerifyTime(trust) > 0)
            SecTrustSetVerifyDate(trust, NSDate(timeIntervalSinceReferenceDate: -5))
            SecTrustSetPolicies(trust, SecPolicyCreateBasicX509())
            #expect(SecTrustGetVerifyTime(trust) == -5)
        }

        @Test func revocationFlags_haveApplesNumbers() {
            #expect(kSecRevocationOCSPMethod == 1 && kSecRevocationCRLMethod == 2 && kSecRevocationPreferCRL == 4)
            #expect(kSecRevocationRequirePositiveResponse == 8 && kSecRevocationNetworkAccessDisabled == 16)
            #expect(kSecRevocationUseAnyAvailableMethod == 3)
        }

        @Test func refusedFunctions_sayThatTheyAreUnimplemented() {
            let trust = itself.trust()
            #expect(SecPolicyCreateRevocation(kSecRevocationUseAnyAvailableMethod) == nil)
            #expect(SecTrustSetOCSPResponse(trust, NSData()) == errSecUnimplemented)
            #expect(SecTrustSetSignedCertificateTimestamps(trust, NSArray()) == errSecUnimplemented)
            #expect(SecTrustSetNetworkFetchAllowed(trust, true) == errSecUnimplemented)
            #expect(SecTrustSetNetworkFetchAllowed(trust, false) == errSecSuccess)
        }

        @Test func objects_haveTypesAndPropertiesOfTheirOwn() throws {
            let (trust, policy) = (itself.trust(), SecPolicyCreateSSL(false, "a.example"))
            #expect(CFGetTypeID(trust) == SecTrustGetTypeID() && CFGetTypeID(policy) == SecPolicyGetTypeID())
            let properties = try #require(SecPolicyCopyProperties(policy) as? [String: Any])
            #expect(properties["SecPolicyOid"] as? String == "1.2.840.113635.100.1.3")
            let same = SecPolicyCreateWithProperties(
                kSecPolicyAppleSSL, [kSecPolicyName: "a.example", kSecPolicyClient: true] as NSDictionary)
            #expect(same == policy && policy != SecPolicyCreateSSL(true, "a.example"))
            #expect(SecPolicyCreateWithProperties(kSecPolicyAppleX509Basic, nil) == SecPolicyCreateBasicX509())
            #expect(SecPolicyCreateWithProperties("1.2.3" as NSString, nil) == nil)
            var policies: CFArray?
            #expect(SecTrustCopyPolicies(trust, &policies) == errSecSuccess && policies?.count == 1)
        }

        /// For example, the process had no file descriptor left.
        @Test func roots_whoseFileCouldNotBeReadOnce_areReadTheNextTime() throws {
            let folder = try TemporaryFolder.inMemory("keychain-roots")
            let file = folder.path + "/roots.pem"
            let block =
                "-----BEGIN CERTIFICATE-----\n\(clientCertificate.base64EncodedString())\n-----END CERTIFICATE-----\n"
            try Data(block.utf8).write(to: URL(fileURLWithPath: file))
            #expect(RootSource(files: [file]) { _ in throw CocoaError(.fileReadUnknown) }.roots() == nil)
            #expect(RootSource(files: [file]).roots()?.bySubject.count == 1)
        }

        /// A missing bundle, an empty one and one that is replaced. Each is a file of its own name.
        @Test func roots_ofTheEnvironment_areReadOrMissed() throws {
            let folder = try TemporaryFolder.inMemory("keychain-roots")
            let file = folder.path + "/roots.pem"
            let alone = TestChain(objects: [object], anchors: [])
            func trust() -> SecTrust {
                let trust = alone.trust(date: testDate)
                trust.set {
                    ($0.usesSystem, $0.source) = (true, RootSource(environment: ["SSL_CERT_FILE": file]))
                }
                return trust
            }
            #expect(trust().status == errSecTrustNotAvailable && trust().result == .otherError)
            try Data("nothing".utf8).write(to: URL(fileURLWithPath: file))
            #expect(trust().status == errSecTrustNotAvailable)
            let block =
                "-----BEGIN CERTIFICATE-----\n\(clientCertificate.base64EncodedString())\n-----END CERTIFICATE-----\n"
            let damaged = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
            try Data((damaged + block).utf8).write(to: URL(fileURLWithPath: file))
            #expect(trust().status == errSecSuccess)
            // Roots of the system have limits of their own.
            let server = trust()
            #expect(SecTrustSetPolicies(server, SecPolicyCreateSSL(true, nil)) == errSecSuccess)
            #expect(server.status == errSecCertificateValidityPeriodTooLong)
            try FileManager.default.removeItem(atPath: file)
            #expect(mkfifo(file, 0o600) == 0)
            #expect(trust().status == errSecTrustNotAvailable)
        }
    }
#endif
