// SPDX-License-Identifier: Apache-2.0
// Several processes whose calls time out: what was refused never happens afterwards.

import Foundation
import KeychainKit
import KeychainTestSupport
import Testing

@Suite("Swarm with timeouts")
struct TimeoutSwarmTests {
    @Test func eightProcesses_whoseCallsTimeOut_seeNoRefusedChangeLater() throws {
        try hurry(processes: 8, threads: 1)
    }

    /// The threads of a process make their changes together.
    @Test func threadsOfTwoProcesses_whoseCallsTimeOut_seeNoRefusedChangeLater() throws {
        try hurry(processes: 2, threads: 6)
    }

    /// The store makes each change by calls of Apple's functions, which return what happened as a status.
    @Test func sixProcesses_whoseItemFunctionsTimeOut_seeNoRefusedChangeLater() throws {
        try hurry(processes: 6, threads: 1, "functions")
    }

    @Test func threadsOfTwoProcesses_whoseItemFunctionsTimeOut_seeNoRefusedChangeLater() throws {
        try hurry(processes: 2, threads: 4, "functions")
    }

    private static let operations = 250

    /// - Parameter surface: Through which functions the processes call.
    private func hurry(processes: Int, threads: Int, _ surface: String = "vault") throws {
        let shared = try SharedVault()
        try shared.store.save("first", for: "key-0")
        let children = try (0..<processes).map {
            try shared.start(["hurry", "\($0)", "\(Self.operations)", "\(threads)", surface])
        }
        let events = try children.flatMap { try $0.finish().lines.compactMap(HurriedEvent.init) }
        #expect(events.count >= processes * threads * Self.operations)
        let outcomes = Set(events.map(\.outcome))
        // Apple has one status for a keychain that is busy and for one that cannot be used.
        let expected: Set = ["ok", "timedOut", "busy", surface == "functions" ? "unavailable" : "ok"]
        #expect(outcomes.isSubset(of: expected), "\(outcomes)")
        // Otherwise the test has seen nothing.
        #expect(outcomes.isSuperset(of: ["ok", "timedOut"]), "\(outcomes)")
        let store = shared.reopened()
        for (key, history) in Dictionary(grouping: events, by: \.key) {
            let final = try store.read(String.self, for: key) ?? HurriedEvent.absent
            let look = HurriedEvent(verb: "read", key: key, value: final, start: .max - 1, end: .max, outcome: "ok")
            for problem in HurriedHistory(events: history + [look]).problems { Issue.record("\(key): \(problem)") }
        }
    }
}

/// One operation on one key. A read has what it found as its value, a removal `absent`; times are of a clock that all
/// processes share.
struct HurriedEvent {
    static let absent = "-"

    let verb: String
    let key: String
    let value: String
    let start: UInt64
    let end: UInt64
    let outcome: String
}

extension HurriedEvent {
    init?(_ line: String) {
        let fields = line.split(separator: " ").map(String.init)
        guard fields.count == 6, let start = UInt64(fields[3]), let end = UInt64(fields[4]) else { return nil }
        self.init(verb: fields[0], key: fields[1], value: fields[2], start: start, end: end, outcome: fields[5])
    }

    var isRead: Bool { verb == "read" }
}

/// Whether any refused change of one key has happened after it was refused.
struct HurriedHistory {
    let events: [HurriedEvent]

    var problems: [String] {
        let done = events.filter { $0.outcome == "ok" }
        let reads = done.filter(\.isRead)
        let writes = events.filter { !$0.isRead }
        return lateSaves(done, reads, writes) + lateRemovals(done, reads, writes) + lost(done, reads)
    }

    /// A value that was refused is seen although, after the refusal, another state was seen or made: then it came back.
    private func lateSaves(_ done: [HurriedEvent], _ reads: [HurriedEvent], _ writes: [HurriedEvent]) -> [String] {
        var problems: [String] = []
        for refused in writes where refused.outcome != "ok" && refused.value != HurriedEvent.absent {
            for read in reads where read.value == refused.value && read.start > refused.end {
                let other = done.first { $0.value != refused.value && $0.start > refused.end && $0.end < read.start }
                if let other {
                    problems.append("\(refused.value), refused, is there after \(other.verb) \(other.value)")
                }
            }
        }
        return problems
    }

    /// A value that was seen or saved is gone, although no operation that could have removed or replaced it was
    /// running.
    private func lateRemovals(_ done: [HurriedEvent], _ reads: [HurriedEvent], _ writes: [HurriedEvent]) -> [String] {
        var problems: [String] = []
        for read in reads where read.value == HurriedEvent.absent {
            let known = done.filter { $0.value != HurriedEvent.absent && $0.end < read.start }.max {
                $0.start < $1.start
            }
            guard let known else { continue }
            let removal = writes.first {
                $0.value == HurriedEvent.absent && $0.end > known.start && $0.start < read.end
            }
            if removal == nil { problems.append("\(known.value) is gone, and nobody has removed it") }
        }
        return problems
    }

    /// A later read does not find an acknowledged value, although no operation has written meanwhile.
    private func lost(_ done: [HurriedEvent], _ reads: [HurriedEvent]) -> [String] {
        var problems: [String] = []
        for read in reads {
            let write = done.filter { !$0.isRead && $0.end < read.start }.max { $0.start < $1.start }
            guard let write, write.value != read.value else { continue }
            let other = events.contains {
                !$0.isRead && $0.value == read.value && $0.end > write.start && $0.start < read.end
            }
            if !other { problems.append("\(write.verb) \(write.value) was acknowledged, and \(read.value) is there") }
        }
        return problems
    }
}
