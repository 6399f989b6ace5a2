// SPDX-License-Identifier: Apache-2.0
// Keys on tokens: making them, and using them.

import Foundation
import KeychainEngine
import KeychainKeys
import KeychainKit
import SecretMemory

extension KeyRequests {
    // MARK: - Making

    func create(
        _ type: KeyType, _ tag: String, _ label: String?, _ protection: KeyProtection
    ) throws(KeychainError) -> StoredKey {
        // When the copies are freed that the item was made of.
        defer { scrubResidue() }
        return try make(type, tag, label, protection)
    }

    private func make(
        _ type: KeyType, _ tag: String, _ label: String?, _ protection: KeyProtection
    ) throws(KeychainError) -> StoredKey {
        // Before slow hardware makes a key.
        guard try named(tag).isEmpty else { throw .keyExists }
        if let (token, key) = try madeOnToken(type, protection) {
            do throws(KeychainError) {
                return try create(key, of: token, tag, label)
            } catch {
                // Of no use any more, so a failure does not matter.
                try? token.forget(key.object)
                throw error
            }
        }
        let key = try type.newPrivateKey()
        return StoredKey(try create(KeyForm(key), tag, label), publicKey: key.publicKey)
    }

    /// - Returns: `nil` if the key is to be made in software.
    private func madeOnToken(
        _ type: KeyType, _ protection: KeyProtection
    ) throws(KeychainError) -> (any KeyToken, TokenKey)? {
        let token = store.tokens.standard
        switch protection.code {
        case .software: return nil
        case .notExportable:
            guard type == .p256 else { throw .isExportable(type) }
            guard !store.synchronizable else { throw .notExportableIsNotSynchronizable }
            let token = KeychainKeyToken()
            return (token, try token.makeKey())
        case .hardware:
            guard type == .p256 else { throw .notInHardware(type) }
            guard !store.synchronizable else { throw .hardwareIsNotSynchronizable }
            guard let token else { throw .withoutHardware }
            return (token, try token.makeKey())
        case .hardwareIfAvailable:
            guard let token, type == .p256, !store.synchronizable else { return nil }
            do throws(KeychainError) {
                return (token, try token.makeKey())
            } catch {
                guard error.reason == .unavailable else { throw error }
                return nil
            }
        }
    }

    private func create(
        _ key: TokenKey, of token: any KeyToken, _ tag: String, _ label: String?
    ) throws(KeychainError) -> StoredKey {
        guard let publicHalf = try? PublicKey(.p256, externalRepresentation: key.publicKey) else {
            throw .unexpectedAnswer(of: token)
        }
        var query = query(tag)
        for (attribute, value) in KeyForm.attributes(KeyColumns(onToken: publicHalf)) {
            query.attributes[attribute] = value
        }
        query.attributes[.label] = label.map { .string($0) }
        query.attributes[.tokenID] = .string(token.identifier)
        query.onToken = NewTokenKey(key)
        query.protection = store.protection
        // Apple's functions use no key whose access control does not say so.
        if let flags = store.accessControl, !flags.isEmpty {
            query.protection?.constraints = flags.union(.privateKeyUsage)
        }
        let stored = try inTransaction(query) { (requests) throws(KeychainError) in
            guard try requests.named(tag).isEmpty else { throw .keyExists }
            return try requests.requests.add(query, accessGroups: accessGroups)
        }
        return StoredKey(stored, publicKey: publicHalf)
    }

    // MARK: - Using

    /// Opens a key for one use.
    ///
    /// - Throws: `itemNotFound` if the item has another key by now, or is gone.
    func open(_ key: StoredKey, _ publicHalf: PublicKey) throws(KeychainError) -> OpenTokenKey {
        guard let identifier = key.tokenIdentifier else { throw .keyOfSignerIsGone }
        return try requests.openTokenKey(
            query(key.id), identifier: identifier, keychain: KeychainKeyToken(),
            publicKey: publicHalf.externalRepresentation, accessGroups: accessGroups)
    }

    func sharedSecret(_ tag: String, _ point: Data) throws(KeychainError) -> SecretBytes? {
        guard let found = try only(tag, .p256) else { return nil }
        let type = KeyType(found.item)
        guard type == .p256 || found.item.mayBe(.p256) else { throw .otherType(type, than: .p256) }
        guard !found.item.isOnToken else {
            let key = StoredKey(found, publicKey: nil)
            guard let publicHalf = key.publicKey else { throw .notAKey }
            return try open(key, publicHalf).sharedSecret(with: point)
        }
        guard let bytes = try bytes(found) else { return nil }
        do throws(KeyFailure) {
            let peer = try PublicKey(.p256, externalRepresentation: point)
            return try PrivateKey(.p256, externalRepresentation: bytes).exchange(with: peer, .keyExchange(.standard))
        } catch {
            throw .notAKey
        }
    }
}

extension PublicKey {
    /// A signature with the private half, which is opened after all that can be refused without asking the user.
    func signature(
        of data: Data, _ algorithm: KeyAlgorithm, _ open: () throws(KeychainError) -> OpenTokenKey
    ) throws(KeychainError) -> Data {
        do throws(KeyFailure) {
            _ = try digestToSign(data, algorithm)
        } catch {
            throw error.inKeychainWords("The key")
        }
        let key = try open()
        do {
            return try signature(ofRaw: key.signature(ofDigest: digestToSign(data, algorithm)), algorithm)
        } catch {
            throw (error as? KeychainError) ?? (error as? KeyFailure)?.inKeychainWords("The key") ?? .notAKey
        }
    }
}

extension KeyType {
    /// - Throws: `unsupported` for types that only programs make.
    fileprivate func newPrivateKey() throws(KeychainError) -> PrivateKey {
        guard let kind else {
            throw KeychainError(
                .unsupported, "Keys of type \(self) are made by the program. Make it with swift-crypto and save it.")
        }
        do throws(KeyFailure) {
            return try .generate(kind, sizeInBits: 3072)
        } catch {
            throw error.inKeychainWords("The key")
        }
    }
}

extension KeychainError {
    /// The private bytes of a key on a token.
    static func isOnToken(_ identifier: String) -> KeychainError {
        let place =
            identifier == Item.keychainIdentifier
            ? "The key was made so that it is never given out. It can sign"
            : "The key is in hardware, which gives no key out. It can sign there"
        return KeychainError(.unsupported, "\(place) (signer), and agree on a secret (sharedSecret).")
    }

    fileprivate static let notExportableIsNotSynchronizable = KeychainError(
        .invalidParameter, "A key that is not exportable never leaves this device, so it cannot be synchronizable.")

    fileprivate static func isExportable(_ type: KeyType) -> KeychainError {
        KeychainError(.unsupported, "Keys that are not exportable are of type p256, not \(type).")
    }

    fileprivate static let withoutHardware = KeychainError(
        .unsupported,
        "This program has no hardware for keys. Let it use a token (KeyTokens), or make the key in software.")

    fileprivate static let hardwareIsNotSynchronizable = KeychainError(
        .invalidParameter, "A key in hardware never leaves it, so it cannot be synchronizable.")

    fileprivate static func notInHardware(_ type: KeyType) -> KeychainError {
        KeychainError(.unsupported, "Hardware holds keys of type p256, not \(type).")
    }
}
