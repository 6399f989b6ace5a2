// SPDX-License-Identifier: Apache-2.0
// Which entries of a log precede which.

/// For entries that are sorted with parents first: the set of entries that precede each.
///
/// Most entries follow all earlier ones. So a set is a number, below which it contains all entries, and a bit for each
/// of the few others.
struct CausalPast {
    private struct Past {
        /// All entries below this index are in the set.
        var complete = 0
        /// The bits of the entries from `complete / 64 * 64` on.
        var words: [UInt64] = []
    }

    private var pasts: [Past] = []

    /// - Parameters:
    ///   - parents: Of each entry, the indices of the entries that it follows directly.
    ///   - work: Counts down the steps, so that a log that is built to be slow is rejected.
    init(parents: [[Int]], work: inout Work) throws(Refusal) {
        pasts.reserveCapacity(parents.count)
        for (index, parents) in parents.enumerated() {
            try work.spend(1 + parents.count + words(parents, index) * (parents.count + 1))
            pasts.append(past(parents, index))
        }
    }

    func contains(_ earlier: Int, before later: Int) -> Bool {
        let past = pasts[later]
        if earlier < past.complete { return true }
        let index = earlier / 64 - past.complete / 64
        return index < past.words.count && past.words[index] >> UInt64(earlier % 64) & 1 == 1
    }

    private func words(_ parents: [Int], _ index: Int) -> Int {
        let base = (parents.map { pasts[$0].complete }.min() ?? 0) / 64
        return index / 64 + 1 - base
    }

    private func past(_ parents: [Int], _ index: Int) -> Past {
        var result = Past(complete: parents.map { pasts[$0].complete }.min() ?? 0)
        let base = result.complete / 64
        result.words = [UInt64](repeating: 0, count: words(parents, index))
        for parent in parents {
            let past = pasts[parent]
            result.words[parent / 64 - base] |= 1 << UInt64(parent % 64)
            for (offset, word) in past.words.enumerated() { result.words[past.complete / 64 - base + offset] |= word }
            for full in base..<past.complete / 64 { result.words[full - base] = .max }
            if past.complete % 64 > 0 {
                result.words[past.complete / 64 - base] |= 1 << UInt64(past.complete % 64) - 1
            }
        }
        return compacted(result)
    }

    private func compacted(_ past: Past) -> Past {
        let base = past.complete / 64
        let full = past.words.prefix { $0 == .max }.count
        let rest = full < past.words.count ? (~past.words[full]).trailingZeroBitCount : 0
        let complete = max(past.complete, (base + full) * 64 + rest)
        var words = Array(past.words.dropFirst(complete / 64 - base))
        while words.last == 0 { words.removeLast() }
        return Past(complete: complete, words: words)
    }
}

/// A limit on the number of steps.
struct Work {
    private(set) var left: Int

    init(_ steps: Int) { left = steps }

    var isUsedUp: Bool { left < 0 }

    /// Like ``spend(_:)``, where running out is no error.
    mutating func use(_ steps: Int) { left = left < 0 ? -1 : left - min(steps, left + 1) }

    mutating func spend(_ steps: Int) throws(Refusal) {
        left -= steps
        if left < 0 { throw .tooLarge }
    }
}
