// SPDX-License-Identifier: Apache-2.0
// What machines that join need, read again at times: nothing else tells that it is damaged.

import KeychainEngine
import KeychainSyncCore

extension RingMember {
    /// Reads objects again, and writes again what is damaged.
    func reread(
        _ names: [ObjectName], _ carrier: any Carrier, _ report: inout ExchangeReport
    ) async throws(KeychainError) {
        var rest = names[...]
        while !rest.isEmpty {
            let part = Array(rest.prefix(Self.mostAtOnce))
            rest = rest.dropFirst(Self.mostAtOnce)
            let reading = try await carrier.readingAll(part)
            let step = try await take(&report) { state, now in
                state.replica.reread(
                    part, as: reading.objects, damaged: reading.damaged, at: now, wrapping: state.undecided.isEmpty)
            }
            _ = try await carryOut(step.effects, carrier, &report)
        }
    }

    /// Reads everything again that others need when a person has asked for more than an exchange, else a part of it with the first head of
    /// each day.
    func rereadIfDue(
        _ fetched: FetchedRing, _ tidying: Tidying, _ carrier: any Carrier, _ report: inout ExchangeReport
    ) async throws(KeychainError) {
        let (listing, now) = (fetched.listing, now)
        if tidying != .inTurn {
            try await reread(fetched.state.replica.essentials(in: listing), carrier, &report)
        } else if fetched.state.hasNoHeadOfDay(at: now) {
            let day = now / RingState.day
            try await reread(fetched.state.replica.essentials(in: listing, onDay: day), carrier, &report)
        }
    }
}

extension RingState {
    /// In milliseconds.
    fileprivate static let day: UInt64 = 86_400_000

    /// Whether the last head of this machine is of another day. A machine without one has just come, and has read everything.
    fileprivate func hasNoHeadOfDay(at now: UInt64) -> Bool { lastHead > 0 && lastHead / Self.day != now / Self.day }
}
