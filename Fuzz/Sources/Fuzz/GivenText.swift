// SPDX-License-Identifier: Apache-2.0
// What a user or the environment gives as text.

import Foundation
import SecretMemory

@testable import KeychainCrypto
@testable import KeychainEngine
@testable import KeychainVault

enum GivenText {
    private static let variables = [
        "KEYCHAIN_VAULT", "KEYCHAIN_DEVICE_KEY", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "HOME",
        "CREDENTIALS_DIRECTORY", "KEYCHAIN_UNLOCK_CACHE", "KEYCHAIN_ANCHORS",
    ]

    static func environment(_ bytes: Data) {
        var input = FuzzInput(bytes)
        var environment: [String: String] = [:]
        while !input.isEmpty { environment[input.element(of: variables)] = input.text() }
        _ = try? VaultSettings.fromEnvironment(environment)
        guard let location = try? VaultLocation.fromEnvironment(environment) else { return }
        let paths = [location.folder, location.deviceKeyFile, location.stateFolder]
        require(paths.allSatisfy { $0.utf8.first == UInt8(ascii: "/") }, "paths are absolute")
        let again = try? VaultLocation(
            folder: location.folder, deviceKeyFile: location.deviceKeyFile, stateFolder: location.stateFolder)
        require(again == location, "a place has one spelling")
        require(
            !(location.deviceKeyFile + "/").utf8.starts(with: (location.folder + "/").utf8),
            "the key lies beside no vault")
    }

    static func passphrase(_ bytes: Data) {
        guard let composed = try? PassphraseDerivation.normalised(bytes.secret) else { return }
        require((1...1024).contains(composed.count), "a passphrase has 1 to 1024 bytes")
        let again = try? PassphraseDerivation.normalised(composed)
        require(again?.data == composed.data, "what is composed stays as it is")
        // `String` compares by canonical equivalence.
        require(
            String(decoding: composed.data, as: UTF8.self) == String(decoding: bytes, as: UTF8.self),
            "composing does not change the text")
    }

    static func recoveryKey(_ bytes: Data) {
        if case .key(let key) = RecoveryKey.read(bytes.secret) {
            require(key.count == 32, "a recovery key has 32 bytes")
            guard case .key(let again) = RecoveryKey.read(RecoveryKey.text(key)) else { fatalError("not read again") }
            require(again.data == key.data, "a recovery key is read as it was written")
        }
        guard bytes.count == 32 else { return }
        guard case .key(let key) = RecoveryKey.read(RecoveryKey.text(bytes.secret)) else { fatalError("not read") }
        require(key.data == bytes, "any 32 bytes are written and read")
    }

    static func invitationCode(_ bytes: Data) {
        if let code = InvitationCode.read(bytes.secret) {
            require(code.count == InvitationCode.byteCount, "a code has 13 bytes")
            require(bytes.count <= 128, "limits hold")
            let again = InvitationCode.read(InvitationCode.text(code))
            require(again?.data == code.data, "a code is read as it was written")
        }
        guard bytes.count == InvitationCode.byteCount else { return }
        // The last four bits are not in the text.
        let code = bytes.dropLast() + bytes.suffix(1).map { $0 & 0xF0 }
        let read = InvitationCode.read(InvitationCode.text(code.secret))
        require(read?.data == code, "any 100 bits are written and read")
    }
}
