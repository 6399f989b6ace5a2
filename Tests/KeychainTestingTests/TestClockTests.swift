// SPDX-License-Identifier: Apache-2.0
// A test's clock advances on request, and wakes the right sleepers.

import Foundation
import KeychainEngine
import KeychainKit
import KeychainTesting
import Synchronization
import Testing

@Suite("Test clock", .timeLimit(.minutes(60)))
struct TestClockTests {
    private let time = TestClock()

    @Test func clock_leftAlone_standsStill() {
        let (moment, date) = (time.now, time.date)
        #expect(time.now == moment && time.date == date && time.elapsed == .zero)
    }

    @Test func advance_done_movesDateAndTime() {
        let (start, date) = (time.now, time.date)
        time.advance(by: .milliseconds(1500))
        #expect(time.elapsed == .milliseconds(1500))
        #expect(start.duration(to: time.now) == .milliseconds(1500))
        #expect(time.date == date.addingTimeInterval(1.5))
    }

    @Test func instant_advanced_isTheMomentAfterThatTime() {
        let later = time.now.advanced(by: .seconds(2))
        #expect(time.now < later)
        time.advance(by: .seconds(2))
        #expect(time.now == later)
    }

    @Test func advance_byLessThanNothing_doesNotGoBack() {
        time.advance(by: .seconds(1))
        time.advance(by: .seconds(-5))
        #expect(time.elapsed == .seconds(1))
    }

    @Test func date_set_leavesTheTimeElapsed() {
        time.date = Date(timeIntervalSinceReferenceDate: 5)
        #expect(time.date == Date(timeIntervalSinceReferenceDate: 5))
        #expect(time.elapsed == .zero)
    }

    @Test func sleeper_beforeItsTime_sleeps() async throws {
        let sleeper = Task { [time] in try await time.sleep(for: .seconds(10)) }
        await time.untilSleeping()
        time.advance(by: .seconds(9))
        #expect(time.sleeperCount == 1)
        time.advance(by: .seconds(1))
        try await sleeper.value
        #expect(time.sleeperCount == 0)
    }

    @Test func advance_overSeveralSleepers_wakesThoseWhoseTimeHasCome() async throws {
        let sleepers = [1, 2, 3].map { seconds in Task { [time] in try await time.sleep(for: .seconds(seconds)) } }
        await time.untilSleeping(3)
        time.advance(by: .seconds(2))
        #expect(time.sleeperCount == 1)
        time.advance(by: .seconds(2))
        for sleeper in sleepers { try await sleeper.value }
    }

    @Test(arguments: [Duration.zero, .seconds(-1)])
    func sleep_forNoTime_returnsAtOnce(_ duration: Duration) async throws {
        try await time.sleep(for: duration)
        #expect(time.sleeperCount == 0)
    }

    @Test func sleep_untilAMomentThatHasPassed_returnsAtOnce() async throws {
        let moment = time.now.advanced(by: .seconds(1))
        time.advance(by: .seconds(1))
        try await time.sleep(until: moment)
        #expect(time.sleeperCount == 0)
    }

    @Test func sleeper_whoseTaskIsCancelled_throws() async {
        let sleeper = Task { [time] in try await time.sleep(for: .seconds(10)) }
        await time.untilSleeping()
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
        #expect(time.sleeperCount == 0)
        time.advance(by: .seconds(20))
    }

    @Test func sleep_inACancelledTask_throwsAtOnce() async {
        let sleeper = Task { [time] in
            withUnsafeCurrentTask { $0?.cancel() }
            try await time.sleep(for: .seconds(10))
        }
        await #expect(throws: CancellationError.self) { try await sleeper.value }
    }

    @Test func sleepers_cancelledWhileTheClockAdvances_allEndOnce() async {
        let sleepers = (1...100).map { _ in Task { [time] in try await time.sleep(for: .seconds(1)) } }
        await time.untilSleeping(100)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [time] in time.advance(by: .seconds(1)) }
            group.addTask { for sleeper in sleepers { sleeper.cancel() } }
        }
        for sleeper in sleepers { _ = await sleeper.result }
        #expect(time.sleeperCount == 0)
    }

    @Test func waitingForSleepers_inACancelledTask_ends() async {
        let before = Task { [time] in
            withUnsafeCurrentTask { $0?.cancel() }
            await time.untilSleeping()
        }
        await before.value
        let waiting = Task { [time] in await time.untilSleeping(2) }
        for _ in 0..<100 { await Task.yield() }
        waiting.cancel()
        await waiting.value
        #expect(time.sleeperCount == 0)
    }

    // MARK: - In a store

    @Test func itemsSaved_areDatedByTheClock() throws {
        var store = SecretStore(service: "example.com", store: MemoryStore())
        store.now = { [time] in time.date }
        time.advance(by: .seconds(100))
        try store.save("secret", for: "alice")
        #expect(try store.item(for: "alice")?.created == time.date)
    }

    @Test func callThatNeverIsAnswered_whenTheClockAdvances_isTimedOut() async throws {
        let scripted = ScriptedStore()
        scripted.fail(.neverAnswers, .every)
        var store = SecretStore(service: "example.com", store: scripted)
        store.clock = time
        let call = Task { [store] in try await store.read(String.self, for: "alice") }
        await time.untilSleeping()
        time.advance(by: .seconds(3600))
        let failure = await #expect(throws: KeychainError.self) { try await call.value }
        #expect(failure?.reason == .timedOut)
        scripted.reset()
    }
}
