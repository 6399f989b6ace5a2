// SPDX-License-Identifier: Apache-2.0
// Entries of the ring log: the members of a ring, and its keys.

package import Foundation
import KeychainCrypto

/// The permissions of a member.
package enum Role: UInt8, Sendable, CaseIterable {
    /// Reads, writes and manages the ring.
    case device = 1
    /// Reads, and leaves.
    case reader = 2
    /// The recovery key on paper: adds and removes members.
    case recovery = 3
}

/// A member as it was added. The machine's name is only for display.
package struct MemberCard: Hashable, Sendable {
    package let role: Role
    package let keys: PublicKeys
    package let name: String

    package init(role: Role, keys: PublicKeys, name: String) {
        self.role = role
        self.keys = keys
        self.name = name
    }

    package var id: MemberID { keys.member }
}

/// The keys of a ring from an entry on.
package struct EpochStart: Hashable, Sendable {
    package let number: UInt32
    package let commitment: Bytes32<CommitmentTag>

    package init(number: UInt32, commitment: Bytes32<CommitmentTag>) {
        self.number = number
        self.commitment = commitment
    }
}

package enum CommitmentTag {}

/// The removal of a member, and which of its segments are still accepted.
package struct Removal: Hashable, Sendable {
    package struct Cut: Hashable, Sendable {
        /// The last segment that is accepted; 0 for none.
        package let number: UInt64
        package let hash: ObjectHash

        package init(number: UInt64, hash: ObjectHash) {
            self.number = number
            self.hash = hash
        }
    }

    package let member: MemberID
    package let cuts: [WriterID: Cut]

    package init(member: MemberID, cuts: [WriterID: Cut]) {
        self.member = member
        self.cuts = cuts
    }
}

/// Which access groups a ring shares.
package enum Policy: Hashable, Sendable {
    case allGroups
    case groups(Set<String>)

    /// - Parameter groups: 1 to 64 names of 1 to ``Bounds/name`` bytes.
    /// - Throws: `malformed` for others, which no entry could hold.
    package init(sharing groups: Set<String>) throws(Refusal) {
        guard (1...Bounds.groups).contains(groups.count),
            groups.allSatisfy({ (1...Bounds.name).contains($0.utf8.count) })
        else { throw .malformed }
        self = .groups(groups)
    }

    /// In ascending order; `nil`: all.
    package var groups: [String]? {
        if case .groups(let groups) = self { groups.sorted() } else { nil }
    }

    /// Compares bytes: two groups whose names only look alike are two in the vault.
    package func shares(_ group: String) -> Bool {
        guard case .groups(let groups) = self else { return true }
        return groups.contains { $0.utf8.elementsEqual(group.utf8) }
    }
}

package enum RingAction: Hashable, Sendable {
    case found(MemberCard, EpochStart)
    case add(MemberCard)
    case remove([Removal])
    case rotate(EpochStart)
    case policy(Policy)
    /// An action of a newer version. Neither it nor the entries after it can be interpreted.
    case unknown(kind: UInt8, payload: [UInt8])

    package var kind: UInt8 {
        switch self {
        case .found: 1
        case .add: 2
        case .remove: 3
        case .rotate: 4
        case .policy: 5
        case .unknown(let kind, _): kind
        }
    }
}

/// One entry, signed by its author.
package struct RingEntry: Hashable, Sendable {
    /// Zero in the first entry, whose hash is the identity of the ring.
    package let ring: RingID
    /// The entries that it follows directly, in ascending order.
    package let parents: [EntryHash]
    package let author: MemberID
    package let action: RingAction
    package var signature = Data()

    package init(ring: RingID, parents: [EntryHash], author: MemberID, action: RingAction) {
        self.ring = ring
        self.parents = parents.sorted()
        self.author = author
        self.action = action
    }

    private var unsigned: ByteWriter {
        var writer = ByteWriter(capacity: 2048)
        ring.write(to: &writer)
        writer.append(tips: parents)
        author.write(to: &writer)
        writer.append(action.kind)
        let payload = action.payload
        writer.append(bigEndian: UInt16(payload.count))
        writer.append(payload)
        return writer
    }

    package var message: [UInt8] { SignedMessage.bytes("ring entry", unsigned.bytes) }

    package var bytes: [UInt8] {
        var writer = unsigned
        writer.append(signature)
        return writer.bytes
    }

    package var hash: EntryHash { EntryHash.hash(of: Data(bytes)) }

    package init(_ bytes: [UInt8]) throws(Refusal) {
        guard bytes.count <= Bounds.entry else { throw .tooLarge }
        var reader = ByteReader(bytes)
        ring = try reader.bytes32()
        parents = try reader.tips()
        author = try reader.bytes16()
        let kind = try reader.byte()
        let payload = try reader.bytes(Int(try reader.number(UInt16.self)))
        action = try RingAction(kind: kind, payload: payload)
        signature = try reader.data(SigningKey.signatureLength)
        try reader.end()
        guard (kind == 1) == parents.isEmpty, (kind == 1) == (ring == .zero) else { throw .malformed }
    }
}
