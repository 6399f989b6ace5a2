// SPDX-License-Identifier: Apache-2.0
// A change that other programs disturb is tried again for as long as the store's clock says.

import KeychainEngine
import KeychainKit
import KeychainTesting
import Testing

@Suite("Attempts", .timeLimit(.minutes(60)))
struct AttemptsTests {
    /// Ends a test in which nothing else ends the attempts.
    private struct Endless: Error {}

    private let time = TestClock()
    /// The other programs'.
    private let others = SecretStore(service: "app", store: MemoryStore())
    private let store: SecretStore

    init() throws {
        var store = others
        store.clock = time
        self.store = store
        try others.save(0, for: "counter")
    }

    /// Changes the item before the change of this run can be saved.
    private func disturb(_ run: Int) throws {
        guard run < 50 else { throw Endless() }
        try others.save(run, for: "counter")
    }

    /// One run of a change that is disturbed each time; the clock advances in the third.
    private func change(_ value: inout Int?, _ runs: inout Int, clockBy time: Duration) throws {
        runs += 1
        try disturb(runs)
        if runs == 3 { self.time.advance(by: time) }
        value = -1
    }

    @Test func update_thatIsDisturbed_isBusyWhenTheStoresClockSaysSo() throws {
        var runs = 0
        let result = reason {
            try store.update(Int.self, for: "counter") { value in
                try change(&value, &runs, clockBy: .seconds(30))
            }
            return nil
        }
        #expect(result == .busy)
        #expect(runs == 3)
    }

    @Test func update_thatIsDisturbed_isBusyWhenTheStoresTimeoutIsUp() throws {
        var (store, runs) = (store, 0)
        store.timeout = Timeout(operation: .seconds(5))
        let result = reason { [store] in
            try store.update(Int.self, for: "counter") { value in
                try change(&value, &runs, clockBy: .seconds(5))
            }
            return nil
        }
        #expect(result == .busy)
        #expect(runs == 3)
    }

    @Test func asynchronousUpdate_thatIsDisturbed_isBusyWhenTheStoresClockSaysSo() async throws {
        var runs = 0
        let result = await reason {
            try await store.update(Int.self, for: "counter") { value in
                try change(&value, &runs, clockBy: .seconds(30))
            }
            return nil
        }
        #expect(result == .busy)
        #expect(runs == 3)
    }

    @Test func transaction_thatIsDisturbed_isBusyWhenTheStoresClockSaysSo() throws {
        var runs = 0
        let result = reason {
            try store.transaction { transaction in
                runs += 1
                _ = try transaction.read(Int.self, for: "counter")
                try disturb(runs)
                if runs == 3 { time.advance(by: .seconds(30)) }
                try transaction.save(-1, for: "counter")
            }
            return nil
        }
        #expect(result == .busy)
        #expect(runs == 3)
    }

    @Test func update_underAClockThatStandsStill_isTriedAgain() throws {
        var runs = 0
        try store.update(Int.self, for: "counter") { value in
            runs += 1
            if runs < 10 { try disturb(runs) }
            value = -1
        }
        #expect(runs == 10)
    }

    @Test func asynchronousUpdate_underAClockThatStandsStill_isTriedAgain() async throws {
        var runs = 0
        try await store.update(Int.self, for: "counter") { value in
            runs += 1
            if runs < 10 { try disturb(runs) }
            value = -1
        }
        #expect(runs == 10)
    }
}
