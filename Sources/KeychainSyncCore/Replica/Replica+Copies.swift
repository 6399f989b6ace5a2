// SPDX-License-Identifier: Apache-2.0
// Which way to follow where a machine was copied or restored, and its log has two ends.

import Foundation
import KeychainCrypto

// Two writes of such a machine can have the same number. A machine that has applied one of them takes the other one for known, so two
// machines that apply different ones would never be equal again. What others have applied is told by their snapshots, and by the
// segments that follow.
extension Replica {
    /// Of several segments that have come under one name, keeps the one that the next segment follows, or that a snapshot ends with.
    mutating func preferFollowed(_ objects: [(name: ObjectName, bytes: Data)]) {
        let copies = Dictionary(grouping: objects, by: \.name).filter { $0.value.count > 1 }
        // The last one first, since it decides about the one before.
        for (name, objects) in copies.sorted(by: { $0.key > $1.key }) {
            guard case .segment(let writer, let number) = name, let held = waiting[writer, number],
                !isFollowed(held, writer, number),
                let other = objects.first(where: {
                    fits($0.bytes, writer, number) && isFollowed($0.bytes, writer, number)
                }), (try? signer(of: other.bytes)) != nil
            else { continue }
            waiting.remove(writer, number)
            waiting.add(writer, number, other.bytes, isSigned: true)
        }
    }

    /// Whether it follows what was applied, if it is the next one.
    private func fits(_ bytes: Data, _ writer: WriterID, _ number: UInt64) -> Bool {
        let tip = logs[writer]?.tip
        return number > (tip?.number ?? 0) + 1 || previous(of: bytes) == tip?.hash ?? .zero
    }

    private func isFollowed(_ bytes: Data, _ writer: WriterID, _ number: UInt64) -> Bool {
        let hash = ObjectHash.hash(of: bytes)
        let ends = openSnapshots.compactMap { $0.manifest.logs[writer] }.filter { $0.number == number }
        guard ends.isEmpty else { return ends.contains { $0.hash == hash } }
        return waiting[writer, number + 1].map { previous(of: $0) == hash } ?? false
    }

    /// Whether the segments that wait lead to where snapshots end that are still to be joined. If they do not, the snapshots come first.
    ///
    /// - Parameter checked: Up to which number that is known.
    func leadsToSnapshots(_ writer: WriterID, _ checked: inout [WriterID: UInt64]) -> Bool {
        let first = (logs[writer]?.tip.number ?? 0) + 1
        let ends = openSnapshots.compactMap { $0.manifest.logs[writer] }.filter { $0.number >= first }
        guard let last = ends.map(\.number).max(), last > checked[writer] ?? 0 else { return true }
        var hashes: [UInt64: ObjectHash] = [:]
        for number in first...last {
            guard let bytes = waiting[writer, number],
                number == first || previous(of: bytes) == hashes[number - 1]
            else { return false }
            hashes[number] = .hash(of: bytes)
        }
        guard ends.allSatisfy({ hashes[$0.number] == $0.hash }) else { return false }
        checked[writer] = last
        return true
    }

    private var openSnapshots: [KnownSnapshot] {
        snapshots.values.filter { !$0.isJoined && ring.mayWrite($0.manifest.author) }
    }

    private func previous(of segment: Data) -> ObjectHash? {
        (try? SegmentHeader.read(segment, ring: log.id))?.previous
    }
}
