// SPDX-License-Identifier: Apache-2.0
// How slow the most important calls may become: what `make gate` compares with.

/// One call, how many times its floor it may cost, and how many it cost when the limit was set.
struct GateLimit {
    let name: String
    let floor: String
    let usual: Double
    let limit: Double
    /// Whether less is wrong too: a write that does not sync at all is not durable.
    let isExact: Bool

    /// One and a half times the usual cost, which lies between those on two machines: on a busy machine everything but the floors
    /// costs up to a third more, since it finds less in caches, and what is worth noticing doubles it.
    init(name: String, floor: String, usual: Double) {
        (self.name, self.floor, self.usual, limit, isExact) = (name, floor, usual, usual * 1.5, false)
    }

    init(name: String, floor: String, exactly count: Double) {
        (self.name, self.floor, usual, limit, isExact) = (name, floor, count, count, true)
    }

    private init(_ whole: GateLimit, part: Double) {
        (name, floor, usual, isExact) = (whole.name, whole.floor, whole.usual, whole.isExact)
        limit = whole.limit * part
    }

    /// With a small part, the check must fail.
    func part(_ part: Double) -> GateLimit { GateLimit(self, part: part) }

    static let all =
        [
            GateLimit(name: "read again", floor: "read floor + open", usual: 1.05),
            GateLimit(name: "first read", floor: "read floor + open", usual: 4.2),
            GateLimit(name: "SecItemCopyMatching again", floor: "read floor + open", usual: 3),
            GateLimit(name: "read again, asynchronous", floor: "read again", usual: 1),
            GateLimit(name: "list of 1,000", floor: "list floor + open", usual: 3.4),
            GateLimit(name: "addition", floor: "add floor", usual: 5.8),
            GateLimit(name: "transaction of 100", floor: "transaction floor", usual: 7.8),
            GateLimit(
                name: "search by account among 20,000", floor: "search by account among 1,000", usual: 0.85),
        ] + [start, gain] + syncs

    /// Of processes, as the kernel counts their time.
    static let start = GateLimit(name: "start of keychainctl", floor: "start of this program", usual: 1.4)

    /// At most 0.8 × the time of one thread where two that share nothing take half: then 1.0 × is a lock that all reads share.
    static let gain = GateLimit(name: "gain of two idle processors", floor: "gain of two readers", usual: 1.04)

    /// Counts, not times.
    static let syncs = [
        GateLimit(name: "syncs of ten additions", floor: "ten", exactly: 1),
        GateLimit(name: "syncs of a transaction of 100", floor: "one", exactly: 1),
        GateLimit(name: "syncs of eight threads adding", floor: "two", exactly: 1),
    ]

    /// What a measurement says about this call. Without a figure nothing has been shown, so that is a failure too.
    func verdict(_ ratio: Double?) -> GateVerdict {
        guard let ratio, ratio.isFinite, ratio > 0 else { return GateVerdict(limit: self, ratio: .nan, passes: false) }
        return GateVerdict(limit: self, ratio: ratio, passes: isExact ? ratio == limit : ratio <= limit)
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
    var verdicts = limits.map { $0.verdict(nil) }
    for _ in 1...2 {
        let failed = Set(verdicts.filter { !$0.passes }.map(\.limit.name))
        guard !failed.isEmpty else { break }
        let ratios = try await measure(failed)
        verdicts = verdicts.map { $0.passes ? $0 : $0.limit.verdict(ratios[$0.limit.name]) }
    }
    return verdicts
}

/// Whether ``judge(_:_:)`` lets through what it should, and nothing else.
func gateWorks() async -> Bool {
    let limit = GateLimit(name: "call", floor: "floor", usual: 2)
    let exact = GateLimit(name: "call", floor: "floor", exactly: 1)
    let cases: [(limit: GateLimit, ratios: [Double?], passes: Bool, measurements: Int)] = [
        (limit, [2.9], true, 1), (limit, [3], true, 1), (limit, [3.1, 3.1], false, 2), (limit, [9, 2.5], true, 2),
        (limit, [nil, nil], false, 2), (limit, [.nan, .nan], false, 2), (limit, [.infinity, .infinity], false, 2),
        (limit, [0, 0], false, 2), (exact, [1], true, 1), (exact, [1.1, 1.1], false, 2), (exact, [0.9, 0.9], false, 2),
        (exact.part(0.1), [1, 1], false, 2), (limit.part(0.1), [0.4, 0.4], false, 2),
    ]
    for (limit, ratios, passes, measurements) in cases {
        var count = 0
        let verdicts = await judge([limit]) { names in
            defer { count += 1 }
            guard names == ["call"], count < ratios.count, let ratio = ratios[count] else { return [:] }
            return ["call": ratio]
        }
        guard verdicts.map(\.passes) == [passes], count == measurements else { return false }
    }
    return true
}
