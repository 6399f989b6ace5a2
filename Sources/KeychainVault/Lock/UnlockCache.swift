// SPDX-License-Identifier: Apache-2.0
// Where the wrapping keys of an unlocked vault are kept between calls.

import Foundation
import KeychainCrypto
import KeychainEngine
import SecretMemory

/// What unlocking leaves at hand: for each state that it opens, the wrapping keys of that state.
///
/// Entries are forgotten at the latest when the system starts anew.
protocol UnlockCache: Sendable {
    /// Puts an entry in the place of the one before.
    func store(_ entry: UnlockEntry, _ state: LockState, vaultID: UUID) throws(KeychainError) -> UnlockToken

    /// - Returns: `nil` if there is none, or its time is over.
    func find(_ state: LockState, vaultID: UUID) throws(KeychainError) -> (entry: UnlockEntry, token: UnlockToken)?

    /// Whether the entry is still there. Asked before every read, so it has to be quick.
    func isAlive(_ token: UnlockToken) -> Bool

    /// Lets the entry's time begin anew.
    func renew(_ token: UnlockToken, _ timeout: Duration)

    /// Takes the entry away from every process.
    func remove(_ state: LockState, vaultID: UUID) throws(KeychainError)
}

/// Which entry of a cache a process has read.
enum UnlockToken: Equatable, Sendable {
    case kernel(KernelKeyring.Key)
    case process(UInt64)
}

/// One entry: when it was made, how long it lasts without use, and the keys.
///
/// version (1) ‖ boot id (16) ‖ idle timeout in seconds (4; 0: none) ‖ keys.
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
        header.append(bigEndian: UInt32(clamping: idleTimeout?.components.seconds ?? 0))
        let prefix = header.bytes.withUnsafeBytes { SecretBytes(copying: $0) }
        return SecretBytes.concatenating(prefix, keys)
    }

    init(bootID: UUID, idleTimeout: Duration?, keys: SecretBytes) {
        self.bootID = bootID
        self.idleTimeout = idleTimeout
        self.keys = keys
    }

    /// - Returns: `nil` for bytes of another layout: another program may write there too.
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

/// Tells one run of the system from the next.
enum BootID {
    /// - Returns: The zero identity where the system has none; then only the cache itself ends with the system.
    static func read(_ path: String) -> UUID {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return .zero }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 36)
        let count = Foundation.read(descriptor, &bytes, bytes.count)
        return UUID(uuidString: String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)) ?? .zero
    }
}
