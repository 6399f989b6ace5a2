// SPDX-License-Identifier: Apache-2.0
// Secrets that a TPM seals.

#if TPM
    import Crypto
    import Foundation
    import KeychainEngine
    import KeychainTestSupport
    import SecretMemory
    import Testing

    @testable import KeychainTPM

    @Suite("TPM: sealed secrets", .enabled(if: SoftwareTPM.isInstalled, SoftwareTPM.isMissing))
    struct TPMSealingTests {
        private let tpm: SoftwareTPM
        private let sealing: TPMSealing
        private let pin = SecretBytes(text: "2580")
        private let wrongPIN = SecretBytes(text: "2581")

        init() throws {
            tpm = try SoftwareTPM()
            sealing = tpm.sealing
        }

        @Test(arguments: [1, 32, 128], [nil, "2580", String(repeating: "long ", count: 50)])
        func secret_isOpened(count: Int, pin: String?) throws {
            let (secret, pin) = (SecretBytes.random(count: count), pin.map { SecretBytes(text: $0) })
            let object = try sealing.seal(secret, pin: pin)
            #expect(try sealing.unseal(object, pin: pin).holdsSameBytes(as: secret))
        }

        @Test(arguments: [0, 129, 5000])
        func secret_ofAnotherLength_isRefused(count: Int) {
            #expect(reason { try sealing.seal(SecretBytes.random(count: count)) } == .invalidParameter)
        }

        @Test func pin_thatIsEmpty_isRefused() {
            let empty = SecretBytes(count: 0) { _ in }
            #expect(reason { try sealing.seal(.random(count: 32), pin: empty) } == .invalidParameter)
        }

        // MARK: - Wrong PINs

        @Test func wrongPINs_lockTheTPM_untilItsOwnerUnlocksIt() throws {
            try tpm.setLockout(most: 2, interval: 600)
            let secret = SecretBytes.random(count: 32)
            let object = try sealing.seal(secret, pin: pin)
            let open = try sealing.seal(secret)
            let first = failure { try sealing.unseal(object, pin: wrongPIN) }
            #expect(first?.reason == .authenticationFailed)
            #expect(first?.message.contains("1 wrong PIN is left") == true)
            #expect(failure { try sealing.unseal(object, pin: wrongPIN) }?.message.contains("10 minutes") == true)
            let locked = failure { try sealing.unseal(object, pin: pin) }
            #expect(locked?.reason == .unavailable)
            #expect(locked?.message.contains("10 minutes") == true)
            // Nothing else is locked.
            #expect(try sealing.unseal(open).holdsSameBytes(as: secret))
            #expect(reason { try tpm.token.makeKey() } == nil)
            try tpm.resetLockout()
            #expect(try sealing.unseal(object, pin: pin).holdsSameBytes(as: secret))
        }

        /// Anybody on the way may change the numbers of the lockout.
        @Test func lockoutInterval_ofAnyNumber_isTold() throws {
            let object = try sealing.seal(.random(count: 32), pin: pin)
            let intervals: [(UInt32, String)] = [
                (.max, "1193047 hours"), (.max - 3599, "1193046 hours"), (7201, "3 hours"), (7200, "120 minutes"),
            ]
            for (interval, text) in intervals {
                let way = ChangingTransport(tpm.transport) { code, response in
                    guard code == .getCapability, response.count == 27 else { return response }
                    // The last of the three properties is the interval; no wrong PIN is left.
                    let property = Array(response[19..<23])
                    let isInterval = property == bigEndian(Property.lockoutInterval.rawValue)
                    return Array(response[..<23]) + bigEndian(isInterval ? interval : 0)
                }
                let failure = failure { try TPMSealing(way).unseal(object, pin: wrongPIN) }
                #expect(failure?.reason == .authenticationFailed)
                #expect(failure?.message.contains(text) == true, "\(failure?.message ?? "")")
                try tpm.resetLockout()
            }
        }

        @Test func pin_thatIsMissing_isNotTried() throws {
            try tpm.setLockout(most: 2, interval: 600)
            let object = try sealing.seal(.random(count: 32), pin: pin)
            for _ in 0..<3 { #expect(reason { try sealing.unseal(object) } == .authenticationFailed) }
            #expect(reason { try sealing.unseal(object, pin: pin) } == nil)
        }

        @Test func pin_thatIsNotNeeded_isRefused() throws {
            let object = try sealing.seal(.random(count: 32))
            #expect(reason { try sealing.unseal(object, pin: pin) } == .invalidParameter)
        }

        // MARK: - Other TPMs, and damage

        @Test func secret_ofAnotherTPM_isOfAnotherDevice() throws {
            let object = try SoftwareTPM().sealing.seal(.random(count: 32))
            let failure = failure { try sealing.unseal(object) }
            #expect(failure?.reason == .ofAnotherDevice)
            #expect(failure?.message.contains("recovery key") == true)
            #expect(failure?.message.contains("keychainctl protect change tpm2") == true)
        }

        @Test func secret_likeOneOfAnotherTPM_isNotSealed() throws {
            let own = try sealing.seal(.random(count: 32))
            let others = try SoftwareTPM().sealing.seal(.random(count: 32))
            let bus = ChangingTransport(tpm.transport)
            #expect(reason { try TPMSealing(bus).seal(.random(count: 32), like: others) } == .ofAnotherDevice)
            let commands = stride(from: 0, to: bus.messages.count, by: 2).map { Array(bus.messages[$0][6..<10]) }
            #expect(!commands.contains(bigEndian(CommandCode.create.rawValue)))
            #expect(reason { try sealing.seal(.random(count: 32), like: others.dropLast()) } == .corrupt)
            let secret = SecretBytes.random(count: 32)
            let object = try sealing.seal(secret, pin: pin, like: own)
            #expect(try sealing.unseal(object, pin: pin).holdsSameBytes(as: secret))
        }

        @Test func secret_afterClear_isOfAnotherDevice() throws {
            let object = try sealing.seal(.random(count: 32), pin: pin)
            try tpm.clear()
            #expect(reason { try sealing.unseal(object, pin: pin) } == .ofAnotherDevice)
        }

        @Test func secret_afterCrash_isOpened() throws {
            let secret = SecretBytes.random(count: 32)
            let object = try sealing.seal(secret, pin: pin)
            tpm.kill()
            #expect(reason { try sealing.unseal(object, pin: pin) } == .unavailable)
            try tpm.start()
            #expect(try sealing.unseal(object, pin: pin).holdsSameBytes(as: secret))
        }

        @Test func object_withAnyByteChanged_isRefused() throws {
            let object = try sealing.seal(.random(count: 32))
            for index in object.indices {
                var changed = object
                changed[index] ^= 0x04
                #expect(reason { try sealing.unseal(changed) } != nil, "byte \(index)")
            }
        }

        // MARK: - The bus

        @Test func bus_carriesNoSecretInClear() throws {
            let bus = ChangingTransport(tpm.transport)
            let (sealing, token) = (TPMSealing(bus), TPMToken(bus))
            let (secret, pin) = (SecretBytes.random(count: 32), SecretBytes(text: "a PIN to look for"))
            let object = try sealing.seal(secret, pin: pin)
            _ = try sealing.unseal(object, pin: pin)
            let key = try token.makeKey()
            let shared = try token.agree(
                with: P256.KeyAgreement.PrivateKey().publicKey.x963Representation, object: key.object)
            let traffic = bus.messages.map { Data($0) }
            let hash = Data(SHA256.hash(data: Data("swift-keychain TPM PIN\0a PIN to look for".utf8)))
            for hidden in [secret.data, shared.data, pin.data, hash.prefix(16)] {
                #expect(!traffic.contains { $0.range(of: hidden) != nil })
            }
            // The search finds what does pass.
            #expect(traffic.contains { $0.range(of: Data(ObjectKind.guardedSecret.template)) != nil })
        }
    }

    extension SecretBytes {
        fileprivate var data: Data { withUnsafeBytes { Data($0) } }
    }
#endif
