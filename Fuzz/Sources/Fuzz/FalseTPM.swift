// SPDX-License-Identifier: Apache-2.0
// A TPM that knows the keys of its sessions, and says what the input wants.

import Crypto
import Foundation
import KeychainEngine
import SecretMemory

@testable import KeychainTPM

/// Without the keys of the session no answer of an input would get past the check of its code. The input chooses for each
/// command between bytes of its own, a refusal, and an answer with parts of its own.
final class FalseTPM: TPMTransport, TPMChannel, @unchecked Sendable {
    // Unchecked: an operation is on one thread.
    private static let mostExchanges = 16

    private var input: FuzzInput
    private var session: SecretBytes?
    private var nonce: [UInt8] = [UInt8](repeating: 1, count: 32)
    private var exchanges = 0
    private(set) var isOpen = false

    init(_ input: FuzzInput) { self.input = input }

    func connect() throws(KeychainError) -> any TPMChannel {
        isOpen = true
        return self
    }

    func close() { isOpen = false }

    func exchange(_ command: [UInt8], within _: Duration) throws(KeychainError) -> [UInt8] {
        exchanges += 1
        guard exchanges <= Self.mostExchanges, !input.isEmpty, command.count >= 10 else {
            throw KeychainError(.unavailable, "The input is used up.")
        }
        switch input.byte() % 8 {
        case 0: return Array(input.bytes())
        case 1: return Self.message(Tag.noSessions, code: input.number(UInt32.self), [])
        default: return answer(to: command, command[6..<10].reduce(0) { $0 << 8 | UInt32($1) })
        }
    }

    private func answer(to command: [UInt8], _ code: UInt32) -> [UInt8] {
        switch CommandCode(rawValue: code) {
        case .createPrimary: Self.message(Tag.sessions, bigEndian(Self.transient) + sized32(part(Self.storageKey)))
        case .startAuthSession: start(command)
        case .load: authorized(command, code, handle: bigEndian(Self.transient), part(Self.loadedName(command)))
        case .create: authorized(command, code, part(Self.created))
        case .sign: authorized(command, code, part(Self.signature))
        case .ecdhZGen: authorized(command, code, part(Self.sized(EncodedPoint(Array(Self.point)).bytes)))
        case .unseal: authorized(command, code, part(Self.sized([UInt8](repeating: 7, count: 32))))
        default: Self.message(Tag.noSessions, part([]))
        }
    }

    /// The usual bytes, others, or the usual ones with some of them changed.
    private func part(_ usual: [UInt8]) -> [UInt8] {
        switch input.byte() % 4 {
        case 0: return Array(input.bytes())
        case 1:
            var changed = usual
            let start = input.index(usual.count)
            for (index, byte) in zip(start..., input.bytes()) where index < changed.count { changed[index] = byte }
            return changed
        default: return usual
        }
    }

    // MARK: - Sessions

    private static let own: P256.KeyAgreement.PrivateKey = {
        guard let key = try? P256.KeyAgreement.PrivateKey(rawRepresentation: [UInt8](repeating: 3, count: 32)) else {
            fatalError("a number is a key")
        }
        return key
    }()

    /// Finds the salt as a TPM does. A command of this module has its fields at fixed places.
    private func start(_ command: [UInt8]) -> [UInt8] {
        guard command.count >= 122,
            let peer = try? P256.KeyAgreement.PublicKey(
                x963Representation: [4] + command[56..<88] + command[90..<122]),
            let shared = try? Self.own.sharedSecretFromKeyAgreement(with: peer)
        else { fatalError("a session begins with a salt") }
        let salt = KeyDerivation.key(
            fromShared: shared, "SECRET", Array(command[56..<88]), Array(Self.point[1..<33]))
        session = KeyDerivation.key(from: salt, "ATH", nonce, Array(command[20..<52]))
        return Self.message(Tag.noSessions, bigEndian(0x0200_0000) + part(Self.sized(nonce)))
    }

    /// An answer with the right code, encrypted as the command demands.
    private func authorized(_ command: [UInt8], _ code: UInt32, handle: [UInt8] = [], _ content: [UInt8]) -> [UInt8] {
        // The input has begun a session by itself, so this TPM does not know its keys.
        guard let session, command.count >= 57 else { return Self.message(Tag.noSessions, code: 0x101, []) }
        let (nonceOfCaller, attributes) = (Array(command[24..<56]), command[56])
        nonce = SHA256.hash(data: nonce).map { $0 }
        var parameters = content
        if attributes & SessionAttributes.encryptedResponse.rawValue != 0, content.count >= 2 {
            let end = 2 + (Int(content[0]) << 8 | Int(content[1]))
            if end <= content.count {
                let cipher = ParameterCipher(session, newer: nonce, older: nonceOfCaller)
                guard (try? cipher.encrypt(&parameters, in: 2..<end)) != nil else { fatalError("a range is encrypted") }
            }
        }
        let digest = SHA256.hash(data: bigEndian(0) + bigEndian(code) + parameters)
        var mac = HMAC<SHA256>(key: session.withUnsafeBytes { SymmetricKey(data: $0) })
        mac.update(data: Array(digest) + nonce + nonceOfCaller + [attributes])
        let rest = Self.sized(nonce) + [attributes] + Self.sized(Array(mac.finalize()))
        return Self.message(Tag.sessions, handle + sized32(parameters) + rest)
    }

    // MARK: - Usual answers

    private static let transient: UInt32 = 0x8000_0000
    static let point = own.publicKey.x963Representation

    private static var coordinates: [UInt8] { sized(Array(point[1..<33])) + sized(Array(point[33..<65])) }
    private static var storageArea: [UInt8] { ObjectKind.storageKey.template.dropLast(4) + coordinates }
    private static var keyArea: [UInt8] { ObjectKind.privateKey.template.dropLast(4) + coordinates }
    private static var secretArea: [UInt8] {
        ObjectKind.openSecret.template.dropLast(2) + sized([UInt8](repeating: 9, count: 32))
    }

    private static var storageKey: [UInt8] { sized(storageArea) }
    private static var created: [UInt8] { sized([UInt8](repeating: 8, count: 126)) + sized(keyArea) }
    private static var signature: [UInt8] {
        bigEndian(UInt32(AlgorithmID.ecdsa) << 16 | UInt32(AlgorithmID.sha256)) + coordinates
    }

    /// The name of the object that a command loads: its public area is at the end.
    private static func loadedName(_ command: [UInt8]) -> [UInt8] {
        let areas = [keyArea, secretArea]
        let area = areas.first { command.suffix($0.count).elementsEqual($0) } ?? keyArea
        return sized([0, UInt8(AlgorithmID.sha256)] + SHA256.hash(data: area))
    }

    static let key = object(keyArea, .privateKey)
    static let secret = object(secretArea, .openSecret)

    private static func object(_ area: [UInt8], _ kind: ObjectKind) -> Data {
        guard let area = try? PublicArea(area, oneOf: [kind]),
            let storage = try? PublicArea(storageArea, oneOf: [.storageKey]),
            let object = try? WrappedObject(
                area, sealed: [UInt8](repeating: 8, count: 126), storageKeyName: storage.name)
        else { fatalError("an object is made") }
        return object.data
    }

    private static func sized(_ bytes: [UInt8]) -> [UInt8] { Array(bigEndian(UInt32(bytes.count))[2...]) + bytes }

    private func sized32(_ bytes: [UInt8]) -> [UInt8] { bigEndian(UInt32(bytes.count)) + bytes }

    private static func message(_ tag: UInt16, code: UInt32 = 0, _ body: [UInt8]) -> [UInt8] {
        bigEndian(UInt32(tag))[2...] + bigEndian(UInt32(10 + body.count)) + bigEndian(code) + body
    }
}
