// SPDX-License-Identifier: Apache-2.0
// The primitives of format 2 by name: what secrets open, and what is said of those that do not.

import Foundation
import KeychainCrypto
import KeychainEngine
import SecretMemory

@testable import KeychainVault

extension FormatVector {
    static let primitivesOfFormat2: [String: @Sendable (VectorInput) throws -> JSON] = [
        "unlock": unlock, "always": always, "userRoot": userRoot, "constrained": constrained,
        "applicationKey": applicationKey,
    ]

    /// The word that the vector files have for a failure.
    static func word(_ failure: any Error) -> String {
        switch failure {
        case UnreadableRow.refused(.user): return "wrong user"
        case UnreadableRow.refused(.applicationPassword): return "wrong applicationPassword"
        case let failure as KeychainError where failure.reason == .authenticationFailed: return "not mine"
        case let failure as KeychainError where failure.reason == .invalidParameter: return "unusable"
        case is PassphraseFailure: return "unusable"
        case let failure as KeychainError where failure.reason != .corrupt: return "\(failure.reason)"
        default: return "damaged"
        }
    }

    @Sendable private static func unlock(_ input: VectorInput) throws -> JSON {
        let keybag = try Keybag(bytes: input.bytes("keybag"))
        let deviceKey = try input.bytes("deviceKey").isEmpty ? nil : loadDeviceKey(input.bytes("deviceKey"))
        guard let opened = try keybag.opening(protector(input), deviceKey) else {
            throw KeychainError(.authenticationFailed, "The secret does not fit.")
        }
        let keys = try ClassKeys(keybag, opened.authority)
        let open = keybag.classKeys.filter { entry in
            if case .open = keys.availability(entry.keyClass, entry.generation) { true } else { false }
        }
        return .object([
            "slot": .hex(opened.slot.id.bytes), "root": opened.authority.rootKey.hex,
            "user": opened.authority.userKey?.hex ?? .null,
            "open": .list(open.map { "\($0.keyClass).\($0.generation)" }.sorted().map { .text($0) }),
        ])
    }

    private static func protector(_ input: VectorInput) throws -> any Protector {
        let kind = ProtectorKind(number: try input.number("kind"))
        let environment = ProtectorEnvironment(
            location: try VaultLocation(folder: "/nowhere/vault", deviceKeyFile: "/nowhere/device.key"),
            deviceKey: nil, settings: VaultSettings())
        // A credential is found and not given, so there is no other way to say which.
        if kind == CredentialProtector.kind { return CredentialProtector(secret: try input.secret("secret")) }
        guard let kind, let made = try Protectors.type(kind)?.make(input.secret("secret"), environment) else {
            throw BadVector(what: "kind")
        }
        return made
    }

    @Sendable private static func always(_ input: VectorInput) throws -> JSON {
        let keybag = try Keybag(bytes: input.bytes("keybag"))
        let deviceKey = try loadDeviceKey(input.bytes("deviceKey"))
        guard let section = keybag.always, section.deviceKeyID == deviceKey.id else {
            throw KeychainError(.authenticationFailed, "The device key does not fit.")
        }
        return try WrappingKeys(section, deviceKey: deviceKey, vaultID: keybag.vaultID).bytes.hex
    }

    @Sendable private static func userRoot(_ input: VectorInput) throws -> JSON {
        let entry = Keybag.UserKeyEntry(
            publicKey: try input.bytes("publicKey"), wrappedRootKey: try input.bytes("wrapped"))
        return try entry.rootKey(input.secret("userKey"), vaultID: UUID(bytes: input.bytes("vault"))).hex
    }

    @Sendable private static func constrained(_ input: VectorInput) throws -> JSON {
        let words: [String: Proofs.Needs] = ["user": .user, "applicationPassword": .applicationPassword]
        let needs = (input.json["needs"]?.elements ?? []).compactMap { $0.text.flatMap { words[$0] } }
        let key = ConstrainedKey(
            needs: Proofs.Needs(needs), valueKey: try input.secret("valueKey"),
            userPublicKey: try input.bytes("publicKey"), place: try input.place(.value))
        return .hex(try key.open(input.bytes("sealed"), input.proofs()))
    }

    @Sendable private static func applicationKey(_ input: VectorInput) throws -> JSON {
        try PassphraseDerivation.keys(fromBytes: input.secret("password"), salt: input.bytes("vault"), .floor)
            .wrapping.hex
    }
}

extension VectorInput {
    /// Those that were given.
    func proofs() throws -> Proofs {
        Proofs(
            userKey: json["userKey"] == nil ? nil : try secret("userKey"),
            applicationKey: json["applicationKey"] == nil ? nil : try secret("applicationKey"))
    }
}
