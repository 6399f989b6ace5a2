// SPDX-License-Identifier: Apache-2.0
// Where the wrapping keys of an unlocked vault are kept between calls.

import Foundation
import KeychainCrypto
import KeychainEngine
import SecretMemory

/// The cached result of an unlock: for each state that it opens, the wrapping keys of that state.
///
/// Entries are removed when the system restarts, at the latest.
protocol UnlockCache: Sendable {
    /// Stores an entry in place of the previous one.
    func store(_ entry: UnlockEntry, _ state: LockState, vaultID: UUID) throws(KeychainError) -> UnlockToken

    /// - Returns: `nil` if there is none, or it has expired.
    func find(_ state: LockState, vaultID: UUID) throws(KeychainError) -> (entry: UnlockEntry, token: UnlockToken)?

    /// Whether the entry is still there. Called before every read, so it must be fast.
    func isAlive(_ token: UnlockToken) -> Bool

    /// Restarts the entry's timeout.
    func renew(_ token: UnlockToken, _ timeout: Duration)

    /// Removes the entry for every process.
    func remove(_ state: LockState, vaultID: UUID) throws(KeychainError)
}

/// Identifies the cache entry that a process has read.
enum UnlockToken: Equatable, Sendable {
    case kernel(KernelKeyring.Key)
    case process(UInt64)
}

/// One entry: when it was made, how long it lasts without use, and the keys.
///
/// version (1) ‖ boot id (16) ‖ idle timeout in seconds, rounded up (4; 0: none) ‖ keys.
struct UnlockEntry: Sendable {
    private static let version: UInt8 = 1
    private static let headerLength = 1 + 16 + 4

    let bootID: UUID
    /// `nil`: until it is locked, or the system restarts.
    let idleTimeout: Duration?
    let keys: SecretBytes

    var bytes: SecretBytes {
        var header = ByteWriter(capacity: Self.headerLength)
        header.append(Self.version)
        header.append(bootID)
        header.append(bigEndian: idleTimeout.map(Self.seconds) ?? 0)
        let prefix = header.bytes.withUnsafeBytes { SecretBytes(copying: $0) }
        return SecretBytes.concatenating(prefix, keys)
    }

    init(bootID: UUID, idleTimeout: Duration?, keys: SecretBytes) {
        self.bootID = bootID
        self.idleTimeout = idleTimeout
        self.keys = keys
    }

    /// Rounded up, so that a vault in use is not locked too early. 0 would mean no timeout.
    private static func seconds(_ timeout: Duration) -> UInt32 {
        let (whole, attoseconds) = timeout.components
        return max(1, UInt32(clamping: attoseconds > 0 && whole < .max ? whole + 1 : whole))
    }

    /// - Returns: `nil` for bytes of another layout: other programs may write there too.
    init?(bytes: SecretBytes) {
        let parts = bytes.withUnsafeBytes { bytes -> (Data, SecretBytes)? in
            guard bytes.count > Self.headerLength, bytes[0] == Self.version else { return nil }
            let rest = UnsafeRawBufferPointer(rebasing: bytes[Self.headerLength...])
            return (Data(bytes[1..<Self.headerLength]), SecretBytes(copying: rest))
        }
        guard let (header, keys) = parts else { return nil }
        let seconds = header.suffix(4).reduce(Int64(0)) { $0 << 8 | Int64($1) }
        self.init(
            bootID: UUID(bytes: header.prefix(16)), idleTimeout: seconds == 0 ? nil : .seconds(seconds), keys: keys)
    }
}

/// Identifies one boot of the system.
enum BootID {
    /// - Returns: The zero identity if the system provides none; then only the cache's own lifetime ends with the
    ///   system.
    /// - Throws: An error if it cannot be read now. The vault must not seem locked for that.
    static func read(_ path: String) throws(KeychainError) -> UUID {
        UUID(uuidString: String(decoding: try SystemIdentifier.read(path, limit: 36), as: UTF8.self)) ?? .zero
    }
}
