// SPDX-License-Identifier: Apache-2.0
// The end of a run with confirmed changes: what was said of each must be true on all machines.

import Foundation
import KeychainSyncCore

extension ConfirmedSimulation {
    /// Calls under way end, everything hidden that can be shown is, and all machines exchange.
    mutating func settle() throws {
        while !late.isEmpty { try carryOutLate(late.count - 1) }
        try exchange()
        for index in hidden.indices.reversed() { try show(index) }
        try exchange()
    }

    private mutating func exchange() throws {
        for _ in 0..<4 {
            now += 60_000
            for index in machines.indices {
                _ = try fetchAll(index)
                try upload(index)
            }
            if let index = machines.indices.first(where: { machines[$0].replica.needsSnapshot }) { try snapshot(index) }
        }
        for index in machines.indices { _ = try fetchAll(index) }
    }

    func compare() throws {
        let first = machines[0].replica
        let expected = archive.expected(within: first.items.vector)
        for replica in machines.map(\.replica) {
            try check(replica.items.vector == first.items.vector, "vectors differ")
            try check(replica.items.digest == first.items.digest, "digests differ")
            try check(replica.isPublished, "something was not uploaded")
            let state = Dictionary(grouping: replica.items.records.map(\.header), by: \.item)
                .mapValues { Set($0.map(\.dot)) }
            try check(state == expected, "items differ from the oracle's")
        }
        let made = archive.writes.values.filter { first.items.vector.covers($0.record.header.dot) }
        try check(made.count == archive.writes.count, "something that was published has not arrived")
        let arrived = Dictionary(grouping: made.filter { !$0.content.isEmpty }) { Self.number($0.content) }
        for (number, attempt) in attempts { try check(attempt, number, arrived[number] ?? [], made) }
        for number in kept { try check(arrived[number] != nil, "change \(number), which was kept, was lost") }
        for index in machines.indices { try checkFindings(index) }
        if isHonest { try checkCount(made) }
    }

    private func check(
        _ attempt: Attempt, _ number: UInt64, _ arrived: [Archive.Write], _ made: [Archive.Write]
    ) throws {
        switch attempt.outcome {
        case .confirmed: try check(arrived.count == 1, "change \(number), which was confirmed, was lost")
        case .unsent: try check(arrived.isEmpty, "change \(number), which was not sent, was made")
        case .refused:
            let isLie = !isHonest && attempt.shown == .made
            try check(arrived.isEmpty || isLie, "change \(number), which was refused, was made")
        case .unknown, .unanswered: break
        }
        guard let write = arrived.first else { return }
        // Nothing took its place that had not seen it.
        let isReplaced = made.contains { $0.record.header.item == attempt.item && $0.saw(write) }
        for machine in machines where !isReplaced {
            let dots = machine.replica.items[attempt.item].all.map(\.header.dot)
            try check(dots.contains(write.record.header.dot), "change \(number) was replaced by what had not seen it")
        }
    }

    /// What the carrier shows against its word is named by its machine as that, and no copy.
    private func checkFindings(_ index: Int) throws {
        let (own, findings) = (attempts.values.filter { $0.machine == index }, machines[index].findings)
        for attempt in own {
            guard let shown = attempt.shown, attempt.isNoted else { continue }
            // One without an answer may be made.
            guard attempt.outcome != .unanswered || shown == .besideAnother else { continue }
            try check(findings.contains(.shownAfterRefusal(attempt.name)), "what was refused and shown is not noticed")
        }
        // Without an honest carrier, and what it has said, a machine cannot tell.
        let tellsOfACopy = findings.contains { if case .equivocation = $0 { true } else { false } }
        let isTold = own.allSatisfy { $0.shown == nil || $0.isNoted }
        if isHonest || machines.count == 1 || isTold && !othersAreShown(index) {
            try check(!tellsOfACopy, "a machine looks copied")
        }
        if isHonest {
            let isBlamed = findings.contains { if case .shownAfterRefusal = $0 { true } else { false } }
            try check(!isBlamed, "an honest carrier is blamed")
        }
    }

    private func othersAreShown(_ index: Int) -> Bool {
        attempts.values.contains { $0.machine != index && $0.shown == .besideAnother }
    }

    /// Every change of the counter has seen the one before.
    private func checkCount(_ made: [Archive.Write]) throws {
        let changes = made.filter { $0.record.header.item == counter }
        let counts = changes.map { Self.count($0.content) }.sorted()
        try check(counts == (0..<UInt64(changes.count)).map { $0 + 1 }, "a count was lost: \(counts)")
    }

    func check(_ condition: Bool, _ what: String) throws {
        if !condition { throw Violation(description: what) }
    }
}
