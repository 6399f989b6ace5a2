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
        guard text.utf8.count <= Bounds.objectName else { return nil }
        let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { [UInt8]($0) }
        guard let name = Self.read(parts), name.text.utf8.elementsEqual(text.utf8) else { return nil }
        self = name
    }

    /// Without the check that the text is the canonical form of the name.
    private static func read(_ parts: [[UInt8]]) -> ObjectName? {
        let fields = parts.dropFirst().map { $0.filter { $0 != UInt8(ascii: "-") } }.map(unhex)
        switch (parts.first, fields.count) {
        case ([UInt8(ascii: "g")], 1):
            guard let hash = fields[0], hash.count == 32 else { return nil }
            return .entry(EntryHash(hash))
        case ([UInt8(ascii: "k")], 2):
            guard let epoch = fields[0], epoch.count == 24, let member = fields[1], member.count == 16,
                let number = UInt32(exactly: number(epoch.prefix(8)))
            else { return nil }
            return .wrap(EpochID(number: number, entry: Bytes16(epoch.dropFirst(8))), MemberID(member))
        case ([UInt8(ascii: "j")], 1...2):
            guard let id = fields[0], id.count == 16 else { return nil }
            guard fields.count == 2 else { return .invitation(InvitationID(id)) }
            return fields[1].flatMap { $0.count == 16 ? .request(InvitationID(id), RequestID($0)) : nil }
        default: return numbered(parts, fields)
        }
    }

    private static func numbered(_ parts: [[UInt8]], _ fields: [[UInt8]?]) -> ObjectName? {
        guard fields.count == 2, let id = fields[0], let last = fields[1], last.count == 8 else { return nil }
        let number = number(last[...])
        // Everybody can make a file of any name, and numbers are counted on from.
        guard number <= Bounds.number else { return nil }
        switch (parts[0], id.count) {
        case ([UInt8(ascii: "l")], 8): return .segment(WriterID(Self.number(id[...])), number)
        case ([UInt8(ascii: "s")], 16): return UInt16(exactly: number).map { .snapshot(SnapshotID(id), part: $0) }
        case ([UInt8(ascii: "h")], 16): return .head(MemberID(id), number)
        default: return nil
        }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }

    private static func unhex(_ text: [UInt8]) -> [UInt8]? {
        guard text.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: text.count, by: 2) {
            guard let high = digit(text[index]), let low = digit(text[index + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func digit(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        default: nil
        }
    }
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
