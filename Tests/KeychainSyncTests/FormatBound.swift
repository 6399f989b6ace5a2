// SPDX-License-Identifier: Apache-2.0
// The bounds of entries and logs, and of names.

import Foundation
import KeychainCrypto
import SecretMemory
import Testing

@testable import KeychainSyncCore

/// One bound.
struct FormatBound: Sendable, CustomTestStringConvertible {
    let name: String
    var reason = Refusal.tooLarge
    /// - Parameter extra: 0 at the bound, 1 beyond.
    /// - Returns: Why it was refused; `nil` if it was not.
    let attempt: @Sendable (_ extra: Int) throws -> Refusal?

    var testDescription: String { name }

    static let all = entries + logs + batches + manifests + names
}

extension FormatBound {
    // MARK: - Entries

    private static func entry(_ length: Int, _ sample: Sample) throws -> RingEntry {
        func entry(_ payload: Int) throws -> RingEntry {
            try RingEntry(
                ring: sample.log.id, parents: sample.log.tips, author: sample.member,
                action: .unknown(kind: 99, payload: [UInt8](repeating: 1, count: payload))
            ).signed(by: sample.keys)
        }
        return try entry(length - entry(0).bytes.count)
    }

    static let entries: [FormatBound] = [
        FormatBound(name: "bytes of an entry, read") { extra in
            let bytes = try entry(Bounds.entry + extra, Sample()).bytes
            #expect(bytes.count == Bounds.entry + extra)
            return refusal { _ = try RingEntry(bytes) }
        },
        FormatBound(name: "bytes of an entry, sealed") { extra in
            let sample = Sample()
            let entry = try entry(Bounds.entry + extra, sample)
            return refusal { _ = try entry.sealed(with: sample.ringKeys) }
        },
        FormatBound(name: "bytes of an entry, in a log") { extra in
            let sample = Sample()
            var log = sample.log
            return log.insert([try entry(Bounds.entry + extra, sample)]).values.first
        },
        FormatBound(name: "entries that wait") { extra in
            let sample = Sample()
            var log = sample.log
            let entries = (0..<Bounds.waitingEntries + extra).map { number in
                RingEntry(
                    ring: log.id, parents: [.hash(of: Data("\(number)".utf8))], author: sample.member,
                    action: .policy(.groups(["\(number)"])))
            }
            let refused = log.insert(entries)
            #expect(refused.count == extra)
            #expect(log.isWaiting)
            return refused.values.first
        },
    ]

    // MARK: - Logs

    /// Entries of one member, each of which adds a member.
    private static func additions(_ count: Int, _ sample: Sample) throws -> [RingEntry] {
        try (0..<count).map { number in
            let card = MemberCard(role: .device, keys: try DeviceKeys.make().publicKeys(), name: "\(number)")
            return try RingEntry(
                ring: sample.log.id, parents: sample.log.tips, author: sample.member, action: .add(card)
            ).signed(by: sample.keys)
        }
    }

    private static func inLog(
        _ name: String, _ count: Int = 3, limit: @escaping @Sendable (inout RingLog, [RingEntry]) -> Void
    ) -> FormatBound {
        FormatBound(name: name) { extra in
            let sample = Sample()
            var log = sample.log
            let entries = try additions(count + extra, sample)
            limit(&log, Array(entries.prefix(count)))
            let refused = log.insert(entries)
            #expect(refused.count == extra)
            // What is refused is not half there.
            #expect(log.ring.active.count == 1 + count && log.entries.count == 1 + count)
            return refused.values.first
        }
    }

    static let logs: [FormatBound] = [
        inLog("entries of a log") { log, entries in log.limits.entries = 1 + entries.count },
        inLog("entries of an author") { log, entries in log.limits.entriesOfAuthor = entries.count },
        inLog("bytes of a log") { log, entries in log.limits.bytes = entries.reduce(0) { $0 + $1.bytes.count } },
        inLog("bytes of an author") { log, entries in
            log.limits.bytesOfAuthor = entries.reduce(0) { $0 + $1.bytes.count }
        },
        inLog("members") { log, entries in log.limits.members = 1 + entries.count },
        FormatBound(name: "steps of an evaluation") { extra in
            let sample = Sample()
            let entries = try additions(20, sample)
            func refused(_ work: Int) -> Refusal? {
                var log = sample.log
                log.limits.work = work
                return log.insert(entries).values.first
            }
            var (tooFew, enough) = (0, 1 << 20)
            while enough - tooFew > 1 {
                let middle = (tooFew + enough) / 2
                if refused(middle) == nil { enough = middle } else { tooFew = middle }
            }
            return refused(enough - extra)
        },
    ]

    // MARK: - Names

    static let names: [FormatBound] = [
        FormatBound(name: "bytes of a name, read") { extra in
            let sample = Sample()
            let card = MemberCard(
                role: .device, keys: sample.publicKeys, name: String(repeating: "x", count: Bounds.name + extra))
            let entry = try RingEntry(
                ring: sample.log.id, parents: sample.log.tips, author: sample.member, action: .add(card)
            ).signed(by: sample.keys)
            return refusal { _ = try RingEntry(entry.bytes) }
        },
        FormatBound(name: "bytes of the founder's name") { extra in
            refusal { _ = try RingLog.found(name: String(repeating: "x", count: Bounds.name + extra), keys: .make()) }
        },
        FormatBound(name: "bytes of the name of a machine that is let in") { extra in
            let sample = Sample()
            var log = sample.log
            let card = MemberCard(
                role: .device, keys: try DeviceKeys.make().publicKeys(),
                name: String(repeating: "x", count: Bounds.name + extra))
            return refusal {
                _ = try log.admit(card, sample.keyring, author: sample.member, signer: sample.keys)
            }
        },
        FormatBound(name: "groups", reason: .malformed) { extra in
            refusal { _ = try Policy(sharing: Set((0..<Bounds.groups + extra).map { "g\($0)" })) }
        },
        FormatBound(name: "bytes of a group's name", reason: .malformed) { extra in
            refusal { _ = try Policy(sharing: [String(repeating: "x", count: Bounds.name + extra)]) }
        },
    ]
}
