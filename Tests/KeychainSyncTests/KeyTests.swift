// SPDX-License-Identifier: Apache-2.0
// Signatures, hybrid keys, invitation codes, and sealing with any context.

import Foundation
import KeychainCrypto
import SecretMemory
import Testing

@testable import KeychainSyncCore

struct KeyTests {
    private let context: [UInt8] = [1, 2, 3]

    @Test func hybridSeal_withItsKeyAndContext_opens_andWithOthersDoesNot() throws {
        let (key, secret) = (HybridKey.make(), SecretBytes.random(count: 64))
        let publicKey = try HybridKey.publicKey(of: key)
        #expect(publicKey.count == HybridKey.publicKeyLength)
        let sealed = try HybridKey.seal(secret, to: publicKey, context: context)
        #expect(sealed.count == HybridKey.sealedLength(64))
        let opened = try HybridKey.open(sealed, with: key, context: context)
        #expect(bytes(opened) == bytes(secret))
        #expect(throws: CipherFailure.self) { try HybridKey.open(sealed, with: key, context: [1, 2]) }
        #expect(throws: CipherFailure.self) { try HybridKey.open(sealed, with: HybridKey.make(), context: context) }
        #expect(throws: CipherFailure.self) { try HybridKey.open(sealed.prefix(1120), with: key, context: context) }
        #expect(throws: CipherFailure.self) { try HybridKey.seal(secret, to: publicKey.dropLast(), context: context) }
    }

    /// RFC 8032, section 7.1, test 2.
    @Test func signature_ofAKnownKey_isTheKnownOne() throws {
        let seed = SecretBytes(hex: "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb")
        let key = Data(hex: "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c")
        let signature = Data(
            hex: "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
                + "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00")
        #expect(try SigningKey.publicKey(of: seed) == key)
        #expect(SigningKey.isValid(signature, of: [0x72], by: key))
        #expect(!SigningKey.isValid(signature, of: [0x73], by: key))
        #expect(!SigningKey.isValid(signature.dropLast(), of: [0x72], by: key))
        #expect(!SigningKey.isValid(signature, of: [0x72], by: Data(count: 31)))
        #expect(SigningKey.isValid(try SigningKey.signature(of: [9], with: seed), of: [9], by: key))
    }

    @Test func invitationCode_typedInAnyWay_isTheSame() throws {
        let code = InvitationCode.make()
        let text = String(decoding: bytes(InvitationCode.text(code)), as: UTF8.self)
        #expect(text.count == 29)
        let typed = text.lowercased().replacing("0", with: "o").replacing("1", with: "l").replacing("-", with: " ")
        #expect(InvitationCode.read(SecretBytes(text: typed)).map(bytes) == bytes(code))
        for wrong in [String(text.dropLast()), text + "0", "", "U" + text.dropFirst()] {
            #expect(InvitationCode.read(SecretBytes(text: wrong)) == nil)
        }
        let other: Character = text.first == "0" ? "2" : "0"
        #expect(InvitationCode.read(SecretBytes(text: String(other) + text.dropFirst())) == nil)
    }

    @Test func rewrappedKey_opensUnderTheNewKeyOnly() throws {
        let (old, new) = (SecretBytes.random(count: 32), SecretBytes.random(count: 32))
        let sealed = try Sealing.sealWithOneTimeKey([7], wrappingKey: old, keyContext: [1], context: [2])
        let moved = try Sealing.rewrap(sealed, from: old, [1], to: new, [3])
        let opened = try Sealing.openWithOneTimeKey(moved, wrappingKey: new, keyContext: [3], context: [2])
        #expect(opened == Data([7]))
        #expect(throws: CipherFailure.self) {
            try Sealing.openWithOneTimeKey(moved, wrappingKey: old, keyContext: [1], context: [2])
        }
        #expect(throws: CipherFailure.self) { try Sealing.rewrap(sealed.prefix(70), from: old, [1], to: new, [3]) }
    }

    /// Attacks: replay an old record in a new segment; swap two records.
    @Test func record_underAnotherHeader_doesNotOpen() throws {
        let sample = Sample()
        let (a, b) = (try sample.record("a", counter: 1), try sample.record("b", counter: 2))
        for header in [b.header, try sample.record("a", counter: 2).header] {
            let swapped = SealedRecord(header: header, author: a.author, epoch: a.epoch, sealed: a.sealed)
            #expect(throws: Refusal.notAuthentic) {
                try swapped.open(ring: sample.log.id, keys: sample.epoch, author: sample.publicKeys)
            }
        }
    }

    @Test func record_movedToAnotherEpoch_keepsItsSignature() throws {
        let sample = Sample()
        let record = try sample.record("a", counter: 1, content: [1, 2, 3])
        let next = EpochKeys(root: .random(count: 32), ring: sample.log.id, id: EpochID(number: 2, entry: .random()))
        let moved = try record.moved(from: sample.epoch, to: next, ring: sample.log.id)
        #expect(try moved.open(ring: sample.log.id, keys: next, author: sample.publicKeys) == [1, 2, 3])
        #expect(throws: Refusal.noKey) {
            try moved.open(ring: sample.log.id, keys: sample.epoch, author: sample.publicKeys)
        }
        #expect(throws: Refusal.badSignature) {
            try moved.open(ring: sample.log.id, keys: next, author: DeviceKeys.make().publicKeys())
        }
        #expect(throws: Refusal.noKey) {
            try moved.open(ring: sample.log.id, keys: next.only([7, 8]), author: sample.publicKeys)
        }
    }

    @Test func recoveryKey_givesTheSameMemberEachTime() throws {
        let key = RecoveryKey.make()
        let first = try DeviceKeys(recoveryKey: key).publicKeys()
        #expect(try DeviceKeys(recoveryKey: key).publicKeys() == first)
        #expect(try DeviceKeys(recoveryKey: RecoveryKey.make()).publicKeys().member != first.member)
    }

    private func bytes(_ secret: SecretBytes) -> [UInt8] { secret.withUnsafeBytes { Array($0) } }
}

extension SecretBytes {
    convenience init(text: String) {
        let bytes = Array(text.utf8)
        self.init(count: bytes.count) { $0.copyBytes(from: bytes) }
    }

    convenience init(hex: String) {
        let bytes = Data(hex: hex)
        self.init(count: bytes.count) { $0.copyBytes(from: bytes) }
    }
}

extension Data {
    init(hex: String) {
        let digits = hex.compactMap(\.hexDigitValue)
        self.init(stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) })
    }
}
