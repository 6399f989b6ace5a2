// SPDX-License-Identifier: Apache-2.0
// Whether what processes were told has an order in which it is true.

/// The calls of all processes, with the moments at which each began and was answered.
struct History {
    struct Call {
        let words: [String]
        let start: Int
        var end = Int.max
        var outcome = ""

        var reason: String { String(outcome.prefix { $0 != " " }) }

        /// A call that ended so may have changed something or not; it has not changed anything later.
        var isOpen: Bool { ["timedOut", "busy", "cancelled"].contains(reason) }
    }

    private(set) var calls: [Call] = []
    /// What a restoration puts in the vault.
    private let backup: [String: String]
    /// Stands among the items of a vault that is locked for all.
    static let lock = "(locked)"
    private var moment = 0

    init(backup: [String: String]) { self.backup = backup }

    mutating func begin(_ words: [String]) -> Int {
        moment += 1
        calls.append(Call(words: words, start: moment))
        return calls.count - 1
    }

    mutating func end(_ call: Int, _ outcome: String) {
        moment += 1
        (calls[call].end, calls[call].outcome) = (moment, outcome)
    }

    var description: String {
        calls.map { "\($0.words.joined(separator: " ")) [\($0.start)-\($0.end)] \($0.outcome.prefix(60))" }
            .joined(separator: "; ")
    }

    /// The contents that the vault may have at the end; none if what was told is impossible.
    ///
    /// - Parameter refusals: Reasons with which any call may end without having changed anything.
    func finalStates(from items: [String: String], refusals: Set<String>) -> [[String: String]] {
        var found: [[String: String]] = []
        explore(items, refusals, Array(calls.indices), &found)
        return found
    }

    private func explore(
        _ items: [String: String], _ refusals: Set<String>, _ left: [Int], _ found: inout [[String: String]]
    ) {
        guard let firstEnd = left.map({ calls[$0].end }).min() else {
            if !found.contains(items) { found.append(items) }
            return
        }
        // Next may come whatever began before any of the others was over.
        for next in left where calls[next].start <= firstEnd {
            let isRefused = refusals.contains(calls[next].reason)
            for after in isRefused ? [items] : effects(calls[next], items) {
                explore(after, refusals, left.filter { $0 != next }, &found)
            }
        }
    }

    /// What the items may be after a call that ended as it did; nothing if it cannot have ended so.
    private func effects(_ call: Call, _ items: [String: String]) -> [[String: String]] {
        let done = effect(call.words, items)
        if call.isOpen { return [items] + (done.outcome == "ok" ? [done.items] : []) }
        // What the error says besides does not matter.
        let outcome = call.outcome.hasPrefix("value ") ? call.outcome : call.reason
        return outcome == done.outcome ? [done.items] : []
    }

    private func effect(
        _ words: [String], _ items: [String: String]
    ) -> (outcome: String, items: [String: String]) {
        var after = items
        guard items[Self.lock] == nil || ["lock", "unlock"].contains(words[0]) else { return ("locked", items) }
        switch words[0] {
        case "lock": after[Self.lock] = ""
        case "unlock": after[Self.lock] = nil
        case "restore": after = backup
        case "save", "timed-save": after[words[1]] = words[2]
        case "add":
            guard items[words[1]] == nil else { return ("duplicateItem", items) }
            after[words[1]] = words[2]
        case "update":
            guard items[words[1]] != nil else { return ("itemNotFound", items) }
            after[words[1]] = words[2]
        case "remove", "timed-remove":
            guard after.removeValue(forKey: words[1]) != nil else { return ("itemNotFound", items) }
        case "read": return (items[words[1]].map { "value \($0)" } ?? "itemNotFound", items)
        default: break
        }
        return ("ok", after)
    }
}
