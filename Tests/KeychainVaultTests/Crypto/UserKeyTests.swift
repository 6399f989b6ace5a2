// SPDX-License-Identifier: Apache-2.0
// Sealing to the user key; the vectors of `user-key` hold for what opens.

import Foundation
import KeychainCrypto
import SecretMemory
import Testing

struct UserKeyTests {
    private static let context = [UInt8](0..<54)
    private static let secret = SecretBytes(bytes: [UInt8](100..<132))

    private let key = UserKey.make()

    private func sealed() throws -> Data {
        try UserKey.seal(Self.secret, to: UserKey.publicKey(of: key), context: Self.context)
    }

    private func opens(_ sealed: Data, _ key: SecretBytes, _ context: [UInt8] = context) -> Bool {
        do {
            return try UserKey.open(sealed, with: key, context: context).bytes == Self.secret.bytes
        } catch {
            return false
        }
    }

    private func isRefused(_ body: () throws -> Void) throws -> Bool {
        do {
            try body()
            return false
        } catch is CipherFailure {
            return true
        }
    }

    @Test func sealedKey_withItsKeyAndContext_opens() throws {
        let sealed = try sealed()
        #expect(sealed.count == UserKey.sealedKeyLength)
        #expect(opens(sealed, key))
    }

    @Test func sealedKey_sealedAgain_isDifferent() throws {
        #expect(try sealed() != sealed())
    }

    @Test func sealedKey_inTheMiddleOfOtherData_opens() throws {
        var framed = Data([1, 2, 3])
        framed += try sealed()
        framed.append(4)
        #expect(opens(framed[3..<83], key))
    }

    @Test func sealedKey_withAnotherKey_doesNotOpen() throws {
        #expect(try !opens(sealed(), UserKey.make()))
    }

    @Test(arguments: [[], [UInt8](0..<53), [UInt8](0..<55), [UInt8](1..<55)])
    func sealedKey_withAnotherContext_doesNotOpen(_ context: [UInt8]) throws {
        #expect(try !opens(sealed(), key, context))
    }

    @Test func sealedKey_withAnyBitChanged_doesNotOpen() throws {
        let sealed = try sealed()
        for index in sealed.indices {
            for bit in 0..<8 {
                // X25519 takes no notice of the top bit of a point (RFC 7748), but HPKE binds the point's spelling.
                var changed = sealed
                changed[index] ^= 1 << bit
                #expect(!opens(changed, key), "bit \(bit) of byte \(index)")
            }
        }
    }

    @Test func sealedKey_ofAnyOtherLength_doesNotOpen() throws {
        let sealed = try sealed()
        for length in 0..<sealed.count { #expect(!opens(sealed.prefix(length), key), "length \(length)") }
        #expect(!opens(sealed + Data([0]), key))
    }

    /// Public keys that make every shared secret zero; RFC 7748 (section 6.1) and their spellings that are not reduced.
    private static let smallOrder = [
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
        "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "0000000000000000000000000000000000000000000000000000000000000080",
    ]

    @Test(arguments: smallOrder)
    func publicKey_ofSmallOrder_isRefused(_ point: String) throws {
        let point = try #require(Data(hexadecimal: point))
        #expect(try isRefused { _ = try UserKey.seal(Self.secret, to: point, context: []) })
    }

    @Test(arguments: smallOrder)
    func sealedKey_withAnEncapsulatedKeyOfSmallOrder_isRefused(_ point: String) throws {
        let point = try #require(Data(hexadecimal: point))
        #expect(try isRefused { _ = try UserKey.open(point + Data(count: 48), with: key, context: []) })
    }

    @Test(arguments: [0, 1, 31, 33, 64, 4096])
    func publicKey_ofAnotherLength_isRefused(_ length: Int) throws {
        #expect(try isRefused { _ = try UserKey.seal(Self.secret, to: Data(repeating: 9, count: length), context: []) })
    }

    @Test(arguments: [1, 16, 31, 33, 64])
    func secretOrKey_ofAnotherLength_isRefused(_ length: Int) throws {
        let wrong = SecretBytes.random(count: length)
        let publicKey = try UserKey.publicKey(of: key)
        #expect(try isRefused { _ = try UserKey.seal(wrong, to: publicKey, context: []) })
        #expect(try isRefused { _ = try UserKey.publicKey(of: wrong) })
        #expect(try !opens(sealed(), wrong))
    }

    @Test(.enabled(if: FormatReader.isAvailable, FormatReader.requirement))
    func sealedKey_isOpenedByTheReader() throws {
        let input: [String: String] = [
            "key": key.bytes.hexadecimal, "sealed": try sealed().hexadecimal, "context": Self.context.hexadecimal,
        ]
        let vector: [String: Any] = ["name": "fresh", "primitive": "openUserKey", "input": input]
        let file = NSTemporaryDirectory() + "vector-\(UUID().uuidString).json"
        defer { unlink(file) }
        try JSONSerialization.data(withJSONObject: ["vectors": [vector]]).write(to: URL(fileURLWithPath: file))
        #expect(try FormatReader.vectors([file]).found["fresh"] == .hex(Self.secret.bytes))
    }

    // MARK: - Layers

    @Test func oneTimeKey_throughAllItsLayers_opensTheValue() throws {
        let place = AssociatedData(
            vaultID: UUID(), role: .value, itemID: UUID(), itemVersion: 1, keyClass: 6, generation: 1)
        let (passwordKey, classKey) = (SecretBytes.random(count: 32), SecretBytes.random(count: 32))
        let keyPlace = place.with(.constrainedValueKey)

        let oneTimeKey = SecretBytes.random(count: 32)
        let value = try Sealing.seal([1, 2, 3], with: oneTimeKey, place)
        let inner = try UserKey.seal(oneTimeKey, to: UserKey.publicKey(of: key), context: keyPlace.bytes)
        let middle = try Sealing.seal([UInt8](inner), with: passwordKey, keyPlace)
        let outer = try Sealing.seal([UInt8](middle), with: classKey, place.with(.valueKey))

        let openedMiddle = try Sealing.open(outer, with: classKey, place.with(.valueKey))
        let openedInner = try Sealing.open(openedMiddle, with: passwordKey, keyPlace)
        let openedKey = try UserKey.open(openedInner, with: key, context: keyPlace.bytes)
        #expect(try Sealing.open(value, with: openedKey, place) == Data([1, 2, 3]))
    }

    @Test(arguments: [1, 31, 96, 5000])
    func secretOfAnyLength_sealed_opensInItsContextOnly(_ length: Int) throws {
        let secret = SecretBytes.random(count: length)
        let sealed = try Sealing.seal(secret, under: key, context: [1])
        #expect(try Sealing.open(sealed, with: key, context: [1]).bytes == secret.bytes)
        #expect(try isRefused { _ = try Sealing.open(sealed, with: key, context: [2]) })
    }

    @Test func sealedNothing_asASecret_isRefused() throws {
        let place = AssociatedData(
            vaultID: UUID(), role: .value, itemID: UUID(), itemVersion: 1, keyClass: 6, generation: 1)
        let sealed = try Sealing.seal([], with: key, place)
        #expect(try isRefused { _ = try Sealing.open(sealed, with: key, context: place.bytes) })
    }

    @Test func place_ofAnotherGeneration_differsOnlyThere() {
        let (vault, item) = (UUID(), UUID())
        func place(_ role: AssociatedData.Role, _ generation: UInt32) -> AssociatedData {
            AssociatedData(
                vaultID: vault, role: role, itemID: item, itemVersion: 7, keyClass: 6, generation: generation)
        }
        let moved = place(.value, 1).with(.valueKey, generation: 0x0102_0304)
        #expect(moved.bytes == place(.valueKey, 0x0102_0304).bytes)
    }
}
