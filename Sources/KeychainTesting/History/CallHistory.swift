// SPDX-License-Identifier: Apache-2.0
// Whether what several processes saw of one key fits together.

/// Looks for changes of one key that happened after they had been refused, and for acknowledged ones that were lost.
@_spi(Wrappers) public struct CallHistory {
    private let calls: [RecordedCall]

    /// - Parameter calls: All calls about one key, of all processes, in any order.
    public init(_ calls: [RecordedCall]) { self.calls = calls }

    /// One sentence for each contradiction; empty if there is none.
    public var problems: [String] {
        let done = calls.filter { $0.outcome == "ok" }
        let reads = done.filter(\.isRead)
        let writes = calls.filter { !$0.isRead }
        return lateSaves(done, reads, writes) + lateRemovals(done, reads, writes) + lost(done, reads)
    }

    /// A value that was refused is seen although, after the refusal, another state was seen or made: then it came back.
    private func lateSaves(_ done: [RecordedCall], _ reads: [RecordedCall], _ writes: [RecordedCall]) -> [String] {
        var problems: [String] = []
        for refused in writes where refused.outcome != "ok" && refused.value != RecordedCall.absent {
            for read in reads where read.value == refused.value && read.start > refused.end {
                let other = done.first { $0.value != refused.value && $0.start > refused.end && $0.end < read.start }
                if let other {
                    problems.append("\(refused.value), refused, is there after \(other.verb) \(other.value)")
                }
            }
        }
        return problems
    }

    /// A value that was seen or saved is gone, although no call that could have removed or replaced it was under way.
    private func lateRemovals(_ done: [RecordedCall], _ reads: [RecordedCall], _ writes: [RecordedCall]) -> [String] {
        var problems: [String] = []
        for read in reads where read.value == RecordedCall.absent {
            let known = done.filter { $0.value != RecordedCall.absent && $0.end < read.start }.max {
                $0.start < $1.start
            }
            guard let known else { continue }
            let removal = writes.first {
                $0.value == RecordedCall.absent && $0.end > known.start && $0.start < read.end
            }
            if removal == nil { problems.append("\(known.value) is gone, and nobody has removed it") }
        }
        return problems
    }

    /// A later read does not find an acknowledged value, although no call has written meanwhile.
    private func lost(_ done: [RecordedCall], _ reads: [RecordedCall]) -> [String] {
        var problems: [String] = []
        for read in reads {
            let write = done.filter { !$0.isRead && $0.end < read.start }.max { $0.start < $1.start }
            guard let write, write.value != read.value else { continue }
            let other = calls.contains {
                !$0.isRead && $0.value == read.value && $0.end > write.start && $0.start < read.end
            }
            if !other { problems.append("\(write.verb) \(write.value) was acknowledged, and \(read.value) is there") }
        }
        return problems
    }
}
