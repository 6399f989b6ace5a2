// SPDX-License-Identifier: Apache-2.0
// The layers around the one-time key of a value that requires the user or a password.

import Foundation
import KeychainCrypto
import KeychainEngine
import SecretMemory

/// How the value of one constrained item is sealed: under a one-time key, which is sealed to the user key if the item
/// requires the user, then under the application key if it has a password, and last under the class's value key.
///
/// The inner layers and the value do not depend on the generation of the class key, so that it can be rotated without
/// any proof by the user.
struct ConstrainedKey {
    let needs: Proofs.Needs
    /// Of the class.
    let valueKey: SecretBytes
    let userPublicKey: Data?
    let place: AssociatedData

    /// - Throws: `unavailable` if the item requires the user and there is no passphrase.
    func seal(_ plaintext: [UInt8], _ proofs: Proofs) throws(KeychainError) -> Data {
        let oneTimeKey = SecretBytes.random(count: 32)
        guard !needs.contains(.user) || userPublicKey != nil else { throw .passcodeNotSet }
        guard !needs.contains(.applicationPassword) || proofs.applicationKey != nil else {
            throw .interactionNotAllowed
        }
        do {
            let layered = try layered(oneTimeKey, proofs)
            return try Sealing.seal(layered, under: valueKey, context: outerContext)
                + Sealing.seal(plaintext, with: oneTimeKey, place.with(.value, generation: 0))
        } catch {
            throw .refusedCipher
        }
    }

    private func layered(_ oneTimeKey: SecretBytes, _ proofs: Proofs) throws(CipherFailure) -> SecretBytes {
        var layered = oneTimeKey
        if needs.contains(.user), let userPublicKey {
            layered = try UserKey.seal(layered, to: userPublicKey, context: innerContext).secret
        }
        if needs.contains(.applicationPassword), let key = proofs.applicationKey {
            layered = try Sealing.seal(layered, under: itemKey(key), context: innerContext).secret
        }
        return layered
    }

    /// - Throws: `refused` for a proof that is missing or wrong.
    func open(_ sealed: Data, _ proofs: Proofs) throws(UnreadableRow) -> Data {
        let missing = proofs.missing(needs)
        guard missing.isEmpty else { throw .refused(missing) }
        let (outer, value) = try parts(sealed)
        var layered = try Self.opened(else: .damaged) { () throws(CipherFailure) in
            try Sealing.open(outer, with: valueKey, context: outerContext)
        }
        // The class key has authenticated the data, so if it does not open now, the proof is wrong.
        if needs.contains(.applicationPassword), let key = proofs.applicationKey {
            layered = try Self.opened(else: .refused(.applicationPassword)) { () throws(CipherFailure) in
                try Sealing.open(layered.data, with: itemKey(key), context: innerContext)
            }
        }
        if needs.contains(.user), let key = proofs.userKey {
            layered = try Self.opened(else: isCurrent(key) ? .damaged : .refused(.user)) { () throws(CipherFailure) in
                try UserKey.open(layered.data, with: key, context: innerContext)
            }
        }
        return try Self.opened(else: .damaged) { () throws(CipherFailure) in
            try Sealing.open(value, with: layered, place.with(.value, generation: 0))
        }
    }

    /// Whether this is today's user key. If so, a failure to open means damage, since no other key would open it.
    private func isCurrent(_ userKey: SecretBytes) -> Bool {
        do {
            return try UserKey.publicKey(of: userKey) == userPublicKey
        } catch {
            return false
        }
    }

    /// The same sealed value for another class key.
    func rewrap(_ sealed: Data, for other: ConstrainedKey) throws(UnreadableRow) -> Data {
        let (outer, value) = try parts(sealed)
        return try Self.opened(else: .damaged) { () throws(CipherFailure) in
            let layered = try Sealing.open(outer, with: valueKey, context: outerContext)
            return try Sealing.seal(layered, under: other.valueKey, context: other.outerContext) + value
        }
    }

    /// The wrapped key and the value after it.
    private func parts(_ sealed: Data) throws(UnreadableRow) -> (Data, Data) {
        let user = needs.contains(.user) ? UserKey.sealedKeyLength - 32 : 0
        let password = needs.contains(.applicationPassword) ? Sealing.overhead : 0
        let length = 32 + user + password + Sealing.overhead
        guard sealed.count > length else { throw .damaged }
        return (sealed.prefix(length), sealed.dropFirst(length))
    }

    private var outerContext: [UInt8] { place.with(.constrainedValueKey).bytes }
    private var innerContext: [UInt8] { place.with(.valueKey, generation: 0).bytes }

    /// The application key of this item only.
    private func itemKey(_ applicationKey: SecretBytes) -> SecretBytes {
        Derivation.key(from: applicationKey, salt: Data(innerContext), .applicationPassword)
    }

    private static func opened<Result>(
        else failure: UnreadableRow, _ body: () throws(CipherFailure) -> Result
    ) throws(UnreadableRow) -> Result {
        do {
            return try body()
        } catch {
            throw failure
        }
    }
}

extension Data {
    /// Sealed bytes that are about to be sealed once more.
    fileprivate var secret: SecretBytes { withUnsafeBytes { SecretBytes(copying: $0) } }
}

extension SecretBytes {
    fileprivate var data: Data { withUnsafeBytes { Data($0) } }
}
