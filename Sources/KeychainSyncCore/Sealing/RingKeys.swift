// SPDX-License-Identifier: Apache-2.0
// The keys of a ring: permanent ones, and those of each epoch.

import Foundation
package import KeychainCrypto
package import SecretMemory

/// The permanent keys of a ring. A removed member knows them; they do not open items.
package struct RingKeys: Sendable {
    package let ring: RingID
    /// The secret from which they are derived; wraps contain it.
    package let secret: SecretBytes
    let log: SecretBytes
    private let names: BlindIndex
    private let state: BlindIndex

    package init(secret: SecretBytes, ring: RingID) {
        func key(_ purpose: Derivation.RingPurpose) -> SecretBytes {
            Derivation.key(from: secret, salt: Data(ring.bytes), purpose)
        }
        self.secret = secret
        self.ring = ring
        log = key(.log)
        names = BlindIndex(key: key(.names))
        state = BlindIndex(key: key(.state))
    }

    /// The name of an item in the ring. It is equal on all machines for the same primary key.
    ///
    /// - Parameter primaryKey: Its canonical bytes.
    package func item(_ primaryKey: [UInt8]) -> SyncID { SyncID(names.digest(primaryKey, length: 16)) }

    /// The contribution of one write of one item to the digest of the state.
    package func sum(_ item: SyncID, _ dot: Dot) -> SetSum {
        var writer = ByteWriter(capacity: 32)
        item.write(to: &writer)
        writer.append(bigEndian: dot.writer.number)
        writer.append(bigEndian: dot.counter)
        return SetSum(bytes: state.digest(writer.bytes, length: SetSum.length))
    }
}

/// The keys of one epoch, derived from its root key.
package struct EpochKeys: Sendable {
    package let id: EpochID
    /// Seals segments, snapshots and heads.
    package let transport: SecretBytes
    /// By accessibility class; locked classes are missing.
    package private(set) var classes: [UInt8: SecretBytes]

    package init(root: SecretBytes, ring: RingID, id: EpochID) {
        var context = ByteWriter(capacity: EpochID.length)
        id.write(to: &context)
        func key(_ purpose: Derivation.RingPurpose, _ suffix: [UInt8] = []) -> SecretBytes {
            Derivation.key(from: root, salt: Data(ring.bytes), purpose, context: context.bytes + suffix)
        }
        self.id = id
        transport = key(.transport)
        classes = Dictionary(uniqueKeysWithValues: RecordHeader.classes.map { ($0, key(.records, [$0])) })
    }

    /// The keys that remain while the machine is locked.
    package func only(_ open: Set<UInt8>) -> EpochKeys {
        var copy = self
        copy.classes = classes.filter { open.contains($0.key) }
        return copy
    }

    /// Identifies the root key of an epoch, and reveals nothing else about it.
    package static func commitment(to root: SecretBytes) -> Bytes32<CommitmentTag> {
        let key = Derivation.key(from: root, salt: Data(), .commitment)
        return key.withUnsafeBytes { Bytes32($0) }
    }
}

/// The keys that a machine can use now.
package struct Keyring: Sendable {
    package let ring: RingKeys
    package private(set) var epochs: [EpochID: EpochKeys] = [:]
    /// The root keys, which are wrapped for new members. A locked machine has none.
    package private(set) var roots: [EpochID: SecretBytes] = [:]

    package init(ring: RingKeys) { self.ring = ring }

    package mutating func add(_ epoch: EpochKeys, root: SecretBytes?) {
        epochs[epoch.id] = epoch
        roots[epoch.id] = root
    }

    package func keys(of epoch: EpochID) throws(Refusal) -> EpochKeys {
        guard let keys = epochs[epoch] else { throw .noKey }
        return keys
    }

    package func only(_ open: Set<UInt8>) -> Keyring {
        var copy = self
        copy.epochs = epochs.mapValues { $0.only(open) }
        copy.roots = [:]
        return copy
    }
}
