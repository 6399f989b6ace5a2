// SPDX-License-Identifier: Apache-2.0
// The device key: a random key in a separate file, which opens the vault without a prompt.

import Foundation
import KeychainCrypto
import KeychainEngine
import SecretMemory

/// A 256-bit key that belongs to this machine and user, kept in a file outside the vault's folder.
struct DeviceKey: Sendable {
    /// Public: identifies the slots that were made with this key.
    let id: UUID
    let secret: SecretBytes

    /// "KVDK" ‖ format ‖ 3 zero bytes ‖ id ‖ key ‖ first 8 bytes of SHA-256 over everything before.
    private static let length = 4 + 4 + 16 + 32 + 8
    private static let magic = Data([UInt8]("KVDK".utf8) + [Format.current, 0, 0, 0])

    /// The key in the file; `nil` if there is no file.
    ///
    /// - Throws: `unsafeLocation` if others could read or replace it, `corrupt` if it is not a device key.
    static func load(_ path: String) throws(KeychainError) -> DeviceKey? {
        try FileSafety.checkNotReplaceable(path)
        guard var bytes = try PrivateFile.read(path, limit: length) else { return nil }
        defer { bytes.wipe() }
        do throws(MalformedBytes) {
            return try DeviceKey(bytes: bytes)
        } catch {
            throw KeychainError(
                .corrupt,
                "The device key '\(path)' is damaged or is not a device key. Restore it from a backup. If there is none, move the file "
                    + "away; if something else opens the vault, then run: keychainctl protect adopt")
        }
    }

    /// The key in the file, which is created if there is none.
    ///
    /// The folder is locked in the meantime: two simultaneous first starts must agree on one key.
    static func loadOrCreate(_ path: String, timeout: Duration) throws(KeychainError) -> DeviceKey {
        let folder = FileSafety.parent(of: path)
        try PrivateFile.createParents(of: path)
        try FileSafety.checkNotSharedByAll(folder)
        guard let lock = try FileLock.take(folder, flags: O_RDONLY | O_DIRECTORY, FileLock.Wait(timeout)) else {
            throw KeychainError(.busy, "The folder '\(folder)' was just replaced. Try again.")
        }
        defer { lock.release() }
        if let present = try load(path) {
            // The process that created it may have been killed before its name was durable.
            try PrivateFile.syncFolder(folder)
            return present
        }
        let key = DeviceKey(id: .random(), secret: .random(count: 32))
        defer { scrubResidue() }
        var bytes = key.bytes
        defer { bytes.wipe() }
        try PrivateFile.write(bytes, to: path)
        return key
    }

    /// Mixed into the keys of the classes that are for this device only.
    func binding(vaultID: UUID) -> SecretBytes {
        Derivation.key(from: secret, salt: vaultID.bytes, .deviceBinding)
    }

    private init(id: UUID, secret: SecretBytes) {
        self.id = id
        self.secret = secret
    }

    private init(bytes: Data) throws(MalformedBytes) {
        guard bytes.count == Self.length, bytes.prefix(8) == Self.magic,
            bytes.suffix(8) == Checksum.sha256(secret: bytes.dropLast(8)).prefix(8)
        else { throw MalformedBytes() }
        id = UUID(bytes: bytes.dropFirst(8).prefix(16))
        secret = bytes.dropFirst(24).prefix(32).withUnsafeBytes { SecretBytes(copying: $0) }
    }

    /// Allocated in one block: a growing buffer would leave a copy behind.
    private var bytes: Data {
        var bytes = Data(capacity: Self.length)
        bytes.append(Self.magic + id.bytes)
        secret.withUnsafeBytes { bytes.append(contentsOf: $0) }
        bytes.append(Checksum.sha256(bytes).prefix(8))
        return bytes
    }
}
