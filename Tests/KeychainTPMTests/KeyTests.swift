// SPDX-License-Identifier: Apache-2.0
// Keys in a TPM.

#if TPM
    import Crypto
    import Foundation
    import KeychainEngine
    import KeychainTestSupport
    import SecretMemory
    import Testing

    @testable import KeychainTPM

    @Suite("TPM: keys", .enabled(if: SoftwareTPM.isInstalled, SoftwareTPM.isMissing))
    struct TPMKeyTests {
        private let tpm: SoftwareTPM
        private let token: TPMToken

        init() throws {
            tpm = try SoftwareTPM()
            token = tpm.token
        }

        @Test(arguments: TokenHash.allCases)
        func signature_overEachHash_isValid(hash: TokenHash) throws {
            let key = try token.makeKey()
            let signature = try token.sign(hash.digest, of: hash, with: key.object)
            #expect(try hash.isValid(signature, of: key))
        }

        @Test func signature_overAnotherDigest_isInvalid() throws {
            let key = try token.makeKey()
            let signature = try token.sign(Data(repeating: 7, count: 32), of: .sha256, with: key.object)
            #expect(try !TokenHash.sha256.isValid(signature, of: key))
        }

        @Test func agreement_withSoftwareKey_isThatOfTheSoftware() throws {
            let key = try token.makeKey()
            let other = P256.KeyAgreement.PrivateKey()
            let shared = try token.agree(with: other.publicKey.x963Representation, object: key.object)
            let expected = try other.sharedSecretFromKeyAgreement(
                with: P256.KeyAgreement.PublicKey(x963Representation: key.publicKey))
            #expect(shared.withUnsafeBytes { Data($0) } == expected.withUnsafeBytes { Data($0) })
        }

        @Test func twoKeys_areDifferent() throws {
            #expect(try token.makeKey().publicKey != token.makeKey().publicKey)
        }

        @Test func sixKeys_inTurns_allSign() throws {
            let keys = try (0..<6).map { _ in try token.makeKey() }
            for key in keys + keys {
                let signature = try token.sign(TokenHash.sha256.digest, of: .sha256, with: key.object)
                #expect(try TokenHash.sha256.isValid(signature, of: key))
            }
        }

        /// Two values stand for two programs: they share no lock, only the TPM.
        @Test func programsAtOnce_withoutResourceManager_allSign() throws {
            let key = try token.makeKey()
            let valid = Guarded(0)
            let tokens = [tpm.token, tpm.token, tpm.token]
            DispatchQueue.concurrentPerform(iterations: 12) { index in
                let signature = try? tokens[index % 3].sign(TokenHash.sha256.digest, of: .sha256, with: key.object)
                if let signature, (try? TokenHash.sha256.isValid(signature, of: key)) == true {
                    valid.withLock { $0 += 1 }
                }
            }
            #expect(valid.withLock { $0 } == 12)
        }

        // MARK: - Failures

        @Test func key_ofAnotherTPM_isOfAnotherDevice() throws {
            let key = try SoftwareTPM().token.makeKey()
            #expect(
                reason { try token.sign(TokenHash.sha256.digest, of: .sha256, with: key.object) } == .ofAnotherDevice)
        }

        @Test func key_afterClear_isOfAnotherDevice() throws {
            let key = try token.makeKey()
            try tpm.clear()
            #expect(
                reason { try token.sign(TokenHash.sha256.digest, of: .sha256, with: key.object) } == .ofAnotherDevice)
        }

        @Test func key_afterCrash_signsAgain() throws {
            let key = try token.makeKey()
            tpm.kill()
            #expect(reason { try token.sign(TokenHash.sha256.digest, of: .sha256, with: key.object) } == .unavailable)
            try tpm.start()
            let signature = try token.sign(TokenHash.sha256.digest, of: .sha256, with: key.object)
            #expect(try TokenHash.sha256.isValid(signature, of: key))
        }

        @Test func object_withAnyByteChanged_isRefused() throws {
            let object = try token.makeKey().object
            for index in object.indices {
                var changed = object
                changed[index] ^= 0x40
                let reason = reason { try token.sign(TokenHash.sha256.digest, of: .sha256, with: changed) }
                // The name of the storage key is the end.
                let expected: Set<KeychainError.Reason> = [.corrupt, .newerFormat, .ofAnotherDevice]
                #expect(reason.map(expected.contains) == true, "byte \(index)")
            }
        }

        @Test func object_cutAnywhere_isCorrupt() throws {
            let object = try token.makeKey().object
            let cut = object.indices.map { object.prefix($0) } + [object + [0]]
            for object in cut {
                #expect(reason { try token.sign(TokenHash.sha256.digest, of: .sha256, with: object) } == .corrupt)
            }
        }

        @Test func secret_asKey_isCorrupt() throws {
            let object = try tpm.sealing.seal(.random(count: 32))
            #expect(reason { try token.sign(TokenHash.sha256.digest, of: .sha256, with: object) } == .corrupt)
        }

        @Test func digest_ofAnotherLength_isRefused() throws {
            let key = try token.makeKey()
            for count in [0, 31, 33, 64] {
                let digest = Data(repeating: 1, count: count)
                #expect(reason { try token.sign(digest, of: .sha256, with: key.object) } == .invalidParameter)
            }
        }

        @Test func publicKey_offTheCurve_isRefused() throws {
            let key = try token.makeKey()
            var point = P256.KeyAgreement.PrivateKey().publicKey.x963Representation
            point[40] ^= 1
            let wrong = [Data(), point, point.prefix(64), Data([4] + [UInt8](repeating: 0, count: 64))]
            for point in wrong {
                #expect(reason { try token.agree(with: point, object: key.object) } == .invalidParameter)
            }
        }

        @Test func hash_thatTheTPMDoesNotKnow_isUnsupported() throws {
            let key = try token.makeKey()
            let other = TPMToken(
                ChangingTransport(tpm.transport) { code, response in
                    // TPM_RC_HASH for the second parameter
                    code == .sign ? [0x80, 1, 0, 0, 0, 10, 0, 0, 2, 0xC3] : response
                })
            #expect(
                reason { try other.sign(TokenHash.sha512.digest, of: .sha512, with: key.object) } == .unsupported)
        }

        @Test func owner_withPassword_isUnavailable() throws {
            try tpm.setOwnerPassword()
            #expect(reason { try token.makeKey() } == .unavailable)
        }

        @Test func device_thatIsMissing_isUnavailable() {
            for connection in ["device:/dev/no-tpm", "swtpm:path=/dev/no-tpm", "no-such-module:x"] {
                #expect(reason { try TPMToken(connection: connection).makeKey() } == .unavailable)
            }
        }
    }

    /// The error; `nil` if there is none.
    func failure(_ body: () throws -> some Any) -> KeychainError? {
        do {
            _ = try body()
            return nil
        } catch {
            if !(error is KeychainError) { Issue.record(error) }
            return error as? KeychainError
        }
    }

    func reason(_ body: () throws -> some Any) -> KeychainError.Reason? { failure(body)?.reason }

    extension TokenHash {
        fileprivate static let message = Data("message".utf8)

        fileprivate var digest: Data {
            switch self {
            case .sha1: Data(Insecure.SHA1.hash(data: Self.message))
            case .sha256: Data(SHA256.hash(data: Self.message))
            case .sha384: Data(SHA384.hash(data: Self.message))
            case .sha512: Data(SHA512.hash(data: Self.message))
            }
        }

        fileprivate func isValid(_ signature: Data, of key: TokenKey) throws -> Bool {
            let publicKey = try P256.Signing.PublicKey(x963Representation: key.publicKey)
            let signature = try P256.Signing.ECDSASignature(rawRepresentation: signature)
            return switch self {
            case .sha1: publicKey.isValidSignature(signature, for: Insecure.SHA1.hash(data: Self.message))
            case .sha256: publicKey.isValidSignature(signature, for: SHA256.hash(data: Self.message))
            case .sha384: publicKey.isValidSignature(signature, for: SHA384.hash(data: Self.message))
            case .sha512: publicKey.isValidSignature(signature, for: SHA512.hash(data: Self.message))
            }
        }
    }
#endif
