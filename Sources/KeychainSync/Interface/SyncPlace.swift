// SPDX-License-Identifier: Apache-2.0
// Where the machines of a ring meet, as programs say it.

public import KeychainEngine

/// Where the machines of a ring exchange what they share. Nobody there can read it.
///
/// ```swift
/// try await sync.found(name: "laptop", at: .folder(path))
/// ```
///
/// The module `KeychainSyncEtcd` adds `etcd(_:)`.
public struct SyncPlace: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    package let place: CarrierPlace

    package init(_ place: CarrierPlace) { self.place = place }

    /// A folder that something else carries to the other machines: Syncthing, Nextcloud, NFS, git, a USB stick.
    ///
    /// - Parameter path: Its absolute path. It must exist when it is used, and must not be the vault's.
    /// - Throws: `invalidParameter` if the path is not absolute, or contains a zero byte.
    public static func folder(_ path: String) throws(KeychainError) -> SyncPlace {
        guard path.utf8.first == UInt8(ascii: "/"), !path.utf8.contains(0) else {
            throw KeychainError(
                .invalidParameter, "'\(path)' is not an absolute path. Give one that begins with '/'.")
        }
        return SyncPlace(.folder(path))
    }

    /// The kind and the path or addresses, such as `folder:/srv/shared`; never a password.
    public var description: String { place.text }

    public var customMirror: Mirror { place.customMirror }
}

/// A way to reach places that a program has beside shared folders. The module `KeychainSyncEtcd` adds `etcd`:
///
/// ```swift
/// let sync = try KeychainSync(ways: [.etcd])
/// ```
public struct SyncWay: Sendable {
    package let kind: any CarrierKind

    package init(_ kind: any CarrierKind) { self.kind = kind }
}
