// SPDX-License-Identifier: Apache-2.0
// How slow the most important calls may become: what `make gate` compares with.

/// One call, how many times its floor it may cost, and how many it cost when the limit was set.
struct GateLimit {
    let name: String
    let floor: String
    let usual: Double
    let limit: Double

    /// One and a half times the usual cost or a little more: on a busy machine everything but the floors costs up to a third more,
    /// since it finds less in caches, and what is worth noticing doubles it. Two threads on cores that share a part of their
    /// hardware do not always gain.
    static let all = [
        GateLimit(name: "read again", floor: "read floor + open", usual: 0.95, limit: 1.6),
        GateLimit(name: "first read", floor: "read floor + open", usual: 4, limit: 6.5),
        GateLimit(name: "SecItemCopyMatching again", floor: "read floor + open", usual: 2.5, limit: 4),
        GateLimit(name: "read again, asynchronous", floor: "read again", usual: 1, limit: 1.8),
        GateLimit(name: "list of 1,000", floor: "list floor + open", usual: 3.5, limit: 5.5),
        GateLimit(name: "addition", floor: "add floor", usual: 2.2, limit: 3.8),
        GateLimit(name: "transaction of 100", floor: "transaction floor", usual: 5.5, limit: 8.5),
        GateLimit(
            name: "search by account among 20,000", floor: "search by account among 1,000", usual: 0.6, limit: 1.3),
        GateLimit(name: "a read by one thread", floor: "a read by each of two", usual: 0.7, limit: 1.6),
    ]

    /// What a measurement says about this call. Without a figure nothing has been shown, so that is a failure too.
    func verdict(_ ratio: Double?) -> GateVerdict {
        guard let ratio, ratio.isFinite, ratio > 0 else { return GateVerdict(limit: self, ratio: .nan, passes: false) }
        return GateVerdict(limit: self, ratio: ratio, passes: ratio <= limit)
    }
}

struct GateVerdict {
    let limit: GateLimit
    let ratio: Double
    let passes: Bool
}

/// Measures, and measures once more what is above its limit: a machine that does something else at the time slows one call and
/// not its floor.
///
/// - Returns: The last verdict about each call.
func judge(
    _ limits: [GateLimit], _ measure: (_ names: Set<String>) async throws -> [String: Double]
) async rethrows -> [GateVerdict] {
    let first = try await measure(Set(limits.map(\.name)))
    var verdicts = limits.map { $0.verdict(first[$0.name]) }
    let failed = Set(verdicts.filter { !$0.passes }.map(\.limit.name))
    guard !failed.isEmpty else { return verdicts }
    let second = try await measure(failed)
    verdicts = verdicts.map { $0.passes ? $0 : $0.limit.verdict(second[$0.limit.name]) }
    return verdicts
}

/// Whether ``judge(_:_:)`` lets through what it should, and nothing else.
func gateWorks() async -> Bool {
    let cases: [(ratios: [Double?], passes: Bool, measurements: Int)] = [
        ([2.9], true, 1), ([3], true, 1), ([3.1, 3.1], false, 2), ([9, 2.5], true, 2), ([nil, nil], false, 2),
        ([.nan, .nan], false, 2), ([.infinity, .infinity], false, 2), ([0, 0], false, 2),
    ]
    for (ratios, passes, measurements) in cases {
        var count = 0
        let verdicts = await judge([GateLimit(name: "call", floor: "floor", usual: 2, limit: 3)]) { names in
            defer { count += 1 }
            guard names == ["call"], count < ratios.count, let ratio = ratios[count] else { return [:] }
            return ["call": ratio]
        }
        guard verdicts.map(\.passes) == [passes], count == measurements else { return false }
    }
    return true
}
