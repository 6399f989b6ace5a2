// SPDX-License-Identifier: Apache-2.0
// The payload of an entry of the ring log.

import KeychainCrypto

extension RingAction {
    var payload: [UInt8] {
        var writer = ByteWriter(capacity: 1400)
        switch self {
        case .found(let card, let epoch):
            card.write(to: &writer)
            epoch.write(to: &writer)
        case .add(let card): card.write(to: &writer)
        case .remove(let removals):
            writer.append(bigEndian: UInt16(removals.count))
            for removal in removals.sorted(by: { $0.member < $1.member }) { removal.write(to: &writer) }
        case .rotate(let epoch): epoch.write(to: &writer)
        case .policy(let policy): policy.write(to: &writer)
        case .unknown(_, let payload): return payload
        }
        return writer.bytes
    }

    init(kind: UInt8, payload: [UInt8]) throws(Refusal) {
        var reader = ByteReader(payload)
        switch kind {
        case 0: throw .malformed
        case 1: self = .found(try MemberCard(from: &reader), try EpochStart(from: &reader))
        case 2: self = .add(try MemberCard(from: &reader))
        case 3: self = .remove(try Self.removals(from: &reader))
        case 4: self = .rotate(try EpochStart(from: &reader))
        case 5: self = .policy(try Policy(from: &reader))
        default:
            self = .unknown(kind: kind, payload: payload)
            return
        }
        try reader.end()
    }

    private static func removals(from reader: inout ByteReader) throws(Refusal) -> [Removal] {
        var removals: [Removal] = []
        for _ in 0..<(try reader.count(UInt16.self, atMost: Bounds.entry, ofAtLeast: 18)) {
            let removal = try Removal(from: &reader)
            guard removals.last.map({ $0.member < removal.member }) ?? true else { throw .malformed }
            removals.append(removal)
        }
        guard !removals.isEmpty else { throw .malformed }
        return removals
    }
}

extension MemberCard {
    /// Role ‖ public keys ‖ length of the name (`u8`) ‖ name.
    func write(to writer: inout ByteWriter) {
        writer.append(role.rawValue)
        writer.append(keys.bytes)
        writer.append(UInt8(name.utf8.count))
        writer.append(name)
    }

    init(from reader: inout ByteReader) throws(Refusal) {
        guard let role = Role(rawValue: try reader.byte()) else { throw .newerFormat }
        self.role = role
        keys = try PublicKeys(from: &reader)
        name = try reader.name()
    }
}

extension EpochStart {
    func write(to writer: inout ByteWriter) {
        writer.append(bigEndian: number)
        commitment.write(to: &writer)
    }

    init(from reader: inout ByteReader) throws(Refusal) {
        number = try reader.number()
        commitment = try reader.bytes32()
        guard number > 0 else { throw .malformed }
    }
}

extension Removal {
    func write(to writer: inout ByteWriter) {
        member.write(to: &writer)
        writer.append(bigEndian: UInt16(cuts.count))
        for (id, cut) in cuts.sorted(by: { $0.key < $1.key }) {
            writer.append(bigEndian: id.number)
            writer.append(bigEndian: cut.number)
            cut.hash.write(to: &writer)
        }
    }

    init(from reader: inout ByteReader) throws(Refusal) {
        member = try reader.bytes16()
        var (cuts, last): ([WriterID: Cut], WriterID?) = ([:], nil)
        for _ in 0..<(try reader.count(UInt16.self, atMost: Bounds.writers, ofAtLeast: 48)) {
            let writer = try reader.writer()
            guard last.map({ $0 < writer }) ?? true else { throw .malformed }
            (cuts[writer], last) = (Cut(number: try reader.counter(), hash: try reader.bytes32()), writer)
        }
        self.cuts = cuts
    }
}

extension Policy {
    /// 0 for all groups; 1, their number (`u16`) and their names, in ascending order of their bytes.
    func write(to writer: inout ByteWriter) {
        guard case .groups(let groups) = self else { return writer.append(UInt8(0)) }
        writer.append(UInt8(1))
        writer.append(bigEndian: UInt16(groups.count))
        for group in groups.map({ [UInt8]($0.utf8) }).sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            writer.append(UInt8(group.count))
            writer.append(group)
        }
    }

    init(from reader: inout ByteReader) throws(Refusal) {
        switch try reader.byte() {
        case 0: self = .allGroups
        case 1:
            var (groups, last) = (Set<String>(), nil as [UInt8]?)
            for _ in 0..<(try reader.count(UInt16.self, atMost: Bounds.entry, ofAtLeast: 1)) {
                let group = try reader.name()
                let bytes = [UInt8](group.utf8)
                // Swift compares text by appearance, but the format by bytes.
                guard last.map({ $0.lexicographicallyPrecedes(bytes) }) ?? true, groups.insert(group).inserted else {
                    throw .malformed
                }
                last = bytes
            }
            self = .groups(groups)
        default: throw .newerFormat
        }
    }
}
