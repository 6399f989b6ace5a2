// SPDX-License-Identifier: Apache-2.0
// How long a call tries, and how often.

#if Etcd
    /// The limits of calls.
    struct EtcdTiming: Sendable {
        /// Of the first try at each node. A node that has lost its leader would keep a call for six seconds.
        var first = Duration.milliseconds(1000)
        /// Of the whole call, but for the bytes that it moves.
        var whole = Duration.seconds(12)
        /// What the check of a password may take in addition.
        var password = Duration.seconds(3)
        /// After this time without a line, a watch is opened again.
        var silence = Duration.seconds(60)
        /// The first pause of a watch that has failed, and the longest.
        var pauses = (first: Duration.milliseconds(500), longest: Duration.seconds(60))
        /// Bytes in a second that a connection must move.
        var speed = 1 << 20
        /// For how long a listing of all keys is the base of others that ask for new ones only.
        var listing = Duration.seconds(600)
        /// After how many rounds a call ends if no node accepts connections.
        var rounds = 3
    }

    /// The tries of one call: one node after the other, with limits that grow with each round.
    struct Tries {
        private(set) var count = 0
        private let nodes: Int
        private let timing: EtcdTiming
        private let begin = ContinuousClock.now
        private var isLasting = true
        private var isRefused = true

        init(_ nodes: Int, _ timing: EtcdTiming) { (self.nodes, self.timing) = (nodes, timing) }

        private var round: Int { min(count / nodes, 6) }

        /// - Parameter size: The bytes of request and answer.
        func limit(_ size: Int) -> Duration { timing.first * (1 << round) + .seconds(1) * (size / timing.speed) }

        /// - Returns: `false` if no other try helps, or the time is over.
        mutating func next(_ failure: TryFailure) -> Bool {
            if count.isMultiple(of: nodes) { (isLasting, isRefused) = (true, true) }
            isLasting = isLasting && failure.isLasting
            isRefused = isRefused && (failure.isLasting || failure == .unreachable)
            count += 1
            if count.isMultiple(of: nodes), isLasting || isRefused && count >= timing.rounds * nodes { return false }
            // Each node is tried once, even if this machine was busy elsewhere for all of the time.
            return !Task.isCancelled && (count < nodes || ContinuousClock.now < begin + timing.whole)
        }

        /// None before the first try at another node.
        var pause: Duration {
            count.isMultiple(of: nodes) ? .milliseconds(100) * (1 << round) * Double.random(in: 0.5...1.5) : .zero
        }
    }
#endif
