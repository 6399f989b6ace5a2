// SPDX-License-Identifier: Apache-2.0
// Names of objects on a carrier, below the ring.

/// The name of an object. A name only says where to look; the authenticated content says what the object is.
package enum ObjectName: Hashable, Sendable {
    case entry(EntryHash)
    case wrap(EpochID, MemberID)
    case segment(WriterID, UInt64)
    /// Part 0 is the manifest.
    case snapshot(SnapshotID, part: UInt16)
    case head(MemberID, UInt64)
    case invitation(InvitationID)
    case request(InvitationID, RequestID)

    package var text: String {
        switch self {
        case .entry(let hash): "g/\(hash.hex)"
        case .wrap(let epoch, let member): "k/\(UInt64(epoch.number).hex)-\(epoch.entry.hex)/\(member.hex)"
        case .segment(let writer, let number): "l/\(writer.hex)/\(number.hex)"
        case .snapshot(let id, let part): "s/\(id.hex)/\(UInt64(part).hex)"
        case .head(let member, let number): "h/\(member.hex)/\(number.hex)"
        case .invitation(let id): "j/\(id.hex)"
        case .request(let id, let request): "j/\(id.hex)/\(request.hex)"
        }
    }

    /// - Returns: `nil` for a name that is not an object's, since the carrier may contain other names.
    package init?(_ text: String) {
        var text = text
        let name = text.withUTF8 { bytes in
            var reader = NameReader(bytes)
            return reader.name()
        }
        guard let name else { return nil }
        self = name
    }
}

/// Reads the form that ``ObjectName/text`` has, and no other. A listing has thousands of names, so nothing is copied.
private struct NameReader {
    private var rest: UnsafeBufferPointer<UInt8>.SubSequence

    init(_ text: UnsafeBufferPointer<UInt8>) { rest = text[...] }

    mutating func name() -> ObjectName? {
        guard let kind = rest.popFirst(), skips("/"), let name = name(of: kind), rest.isEmpty else { return nil }
        return name
    }

    private mutating func name(of kind: UInt8) -> ObjectName? {
        switch kind {
        case UInt8(ascii: "g"): hash().map { .entry($0) }
        case UInt8(ascii: "k"): wrap()
        case UInt8(ascii: "l"):
            word().flatMap { writer in ordinal().map { .segment(WriterID(writer), $0) } }
        case UInt8(ascii: "s"):
            id().flatMap { id in ordinal().flatMap { UInt16(exactly: $0) }.map { .snapshot(id, part: $0) } }
        case UInt8(ascii: "h"): id().flatMap { member in ordinal().map { .head(member, $0) } }
        case UInt8(ascii: "j"): joining()
        default: nil
        }
    }

    private mutating func wrap() -> ObjectName? {
        guard let number = word().flatMap({ UInt32(exactly: $0) }), skips("-"), let entry: Bytes16<EntryTag> = id(),
            skips("/"), let member: MemberID = id()
        else { return nil }
        return .wrap(EpochID(number: number, entry: entry), member)
    }

    private mutating func joining() -> ObjectName? {
        guard let invitation: InvitationID = id() else { return nil }
        if rest.isEmpty { return .invitation(invitation) }
        guard skips("/"), let request: RequestID = id() else { return nil }
        return .request(invitation, request)
    }

    /// The last part of a name, a number. Everybody can make a file of any name, and numbers are counted on from.
    private mutating func ordinal() -> UInt64? {
        guard skips("/"), let number = word(), number <= Bounds.number else { return nil }
        return number
    }

    private mutating func hash() -> EntryHash? {
        guard let first: Bytes16<EntryTag> = id(), let second: Bytes16<EntryTag> = id() else { return nil }
        return EntryHash(first, second)
    }

    private mutating func id<Tag>() -> Bytes16<Tag>? {
        guard let high = word(), let low = word() else { return nil }
        return Bytes16(high, low)
    }

    /// Sixteen lower-case digits.
    private mutating func word() -> UInt64? {
        guard rest.count >= 16 else { return nil }
        var number: UInt64 = 0
        for character in rest.prefix(16) {
            switch character {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt64(character & 15)
            case UInt8(ascii: "a")...UInt8(ascii: "f"): number = number << 4 | UInt64(character & 15 + 9)
            default: return nil
            }
        }
        rest = rest.dropFirst(16)
        return number
    }

    private mutating func skips(_ character: Unicode.Scalar) -> Bool { rest.popFirst() == UInt8(ascii: character) }
}

extension ObjectName: Comparable {
    /// A fixed order, so that all machines process objects in the same order.
    package static func < (lhs: ObjectName, rhs: ObjectName) -> Bool {
        switch (lhs, rhs) {
        case (.entry(let a), .entry(let b)): a < b
        case (.wrap(let a, let m), .wrap(let b, let n)): (a.number, a.entry, m) < (b.number, b.entry, n)
        case (.segment(let a, let m), .segment(let b, let n)): (a, m) < (b, n)
        case (.snapshot(let a, let m), .snapshot(let b, let n)): (a, m) < (b, n)
        case (.head(let a, let m), .head(let b, let n)): (a, m) < (b, n)
        case (.invitation(let a), .invitation(let b)): a < b
        case (.request(let a, let m), .request(let b, let n)): (a, m) < (b, n)
        default: lhs.rank < rhs.rank
        }
    }

    private var rank: Int {
        switch self {
        case .entry: 0
        case .wrap: 1
        case .segment: 2
        case .snapshot: 3
        case .head: 4
        case .invitation: 5
        case .request: 6
        }
    }
}
