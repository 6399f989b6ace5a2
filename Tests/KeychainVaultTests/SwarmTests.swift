// SPDX-License-Identifier: Apache-2.0
// Several processes and threads at once.

import Foundation
import KeychainEngine
import KeychainTestSupport
import Testing

@testable import KeychainVault

struct SwarmTests {
    @Test func item_addedByOneProcess_isReadByAnother() throws {
        let test = try TestVault()
        #expect(try test.exercise("add", "alice", "from another process").output == "done\n")
        #expect(try test.exercise("read", "alice").lines.first == "from another process")
    }

    @Test func item_addedByAnotherProcess_isSeenByAnOpenVault() throws {
        let test = try TestVault()
        try test.engine.add(.genericPassword("exerciser", "first", value: "v"))
        _ = try test.exercise("add", "second", "w")
        #expect(try test.engine.text(.genericPassword("exerciser", "second")) == "w")
    }

    @Test func vault_madeByManyProcessesAtOnce_isOne() throws {
        let test = try TestVault()
        let children = try (0..<8).map { index in
            try ChildProcess(
                Exerciser.path, test.exerciserArguments(["add", "account-\(index)", "v"])
            ).start()
        }
        for child in children { #expect(try child.finish().output == "done\n") }
        #expect(try test.state().count == 8)
    }

    @Test func eightProcesses_addingUpdatingAndDeleting_loseAndDoubleNothing() async throws {
        let test = try TestVault()
        let children = try (0..<8).map { worker in
            try ChildProcess(
                Exerciser.path, test.exerciserArguments(["swarm", "\(worker)", "250"])
            ).start()
        }
        let events = try await onOwnThread {
            try children.flatMap { try $0.finish().lines.compactMap(SwarmEvent.init) }
        }
        #expect(events.count == 8 * 250)
        let unexpected = events.filter { !["ok", "duplicateItem", "itemNotFound"].contains($0.outcome) }
        #expect(unexpected.isEmpty, "\(unexpected.prefix(3))")
        let final = try test.state()
        for (key, history) in Dictionary(grouping: events, by: \.key) {
            for problem in SwarmHistory(events: history).problems(final: final[key]) {
                Issue.record("\(key): \(problem)")
            }
        }
    }

    @Test func threads_addingAndReading_allSeeTheirItems() async throws {
        let test = try TestVault()
        let engine = test.engine
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<16 {
                group.addTask {
                    for item in 0..<20 {
                        let name = "\(task)-\(item)"
                        try engine.add(.genericPassword("threads", name, value: name))
                        #expect(try engine.text(.genericPassword("threads", name)) == name)
                    }
                }
            }
            try await group.waitForAll()
        }
        let query = Query(.genericPassword).returning(.value, limit: .all)
        guard case .many(let results) = try engine.copyMatching(query, accessGroups: .unrestricted) else {
            Issue.record("not a list")
            return
        }
        #expect(results.count == 320)
    }
}

/// One operation of one worker, with the time it took in nanoseconds of the machine's clock.
struct SwarmEvent {
    let verb: String
    let key: String
    let value: String
    let start: UInt64
    let end: UInt64
    let outcome: String

    init?(_ line: String) {
        let fields = line.split(separator: " ").map(String.init)
        guard fields.count == 6, let start = UInt64(fields[3]), let end = UInt64(fields[4]) else { return nil }
        (verb, key, value, self.start, self.end, outcome) = (fields[0], fields[1], fields[2], start, end, fields[5])
    }
}

/// Whether what happened to one key can have happened in some order that agrees with the clock.
struct SwarmHistory {
    let events: [SwarmEvent]

    func problems(final: String?) -> [String] {
        let done = events.filter { $0.outcome == "ok" }
        let additions = done.filter { $0.verb == "add" }
        let deletions = done.filter { $0.verb == "delete" }
        var problems: [String] = []
        if additions.count - deletions.count != (final == nil ? 0 : 1) {
            problems.append("\(additions.count) additions, \(deletions.count) deletions, final \(final ?? "absent")")
        }
        if let final { problems += problemsOfValue(final, done) }
        return problems + overlaps(additions, deletions)
    }

    /// The value at the end was written, and nothing that began after it was written has replaced it.
    private func problemsOfValue(_ final: String, _ done: [SwarmEvent]) -> [String] {
        guard let write = done.first(where: { $0.value == final && $0.verb != "delete" }) else {
            return ["value \(final) was never written"]
        }
        return done.filter { $0.start > write.end }.map {
            "\(final) is there although \($0.verb) \($0.value) came later"
        }
    }

    /// Between two additions that do not overlap there must have been a deletion.
    private func overlaps(_ additions: [SwarmEvent], _ deletions: [SwarmEvent]) -> [String] {
        let sorted = additions.sorted { $0.start < $1.start }
        return zip(sorted, sorted.dropFirst()).compactMap { first, second in
            guard second.start > first.end else { return nil }
            let between = deletions.contains { $0.end > first.start && $0.start < second.end }
            return between ? nil : "added twice: \(first.value) and \(second.value)"
        }
    }
}
