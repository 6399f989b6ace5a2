// SPDX-License-Identifier: Apache-2.0
// How the pause after a failed read ends.

import KeychainEngine
import KeychainKit
import KeychainTesting
import Testing

@Suite(.timeLimit(.minutes(60)))
struct ReadRetriesTests {
    private static let busy = KeychainError(.busy, "A test's keychain is busy.")

    /// Otherwise a change that is undone before it is taken would be waited for in vain. The clock stands still.
    @Test func pause_endedByAChange_takesTheChange() async throws {
        let store = SecretStore(service: "s", store: MemoryStore())
        let changes = try await store.changes(for: "alice")
        try await store.save("1", for: "alice")
        var retries = ReadRetries()
        let ending = await retries.pause(after: Self.busy, by: TestClock(), endedBy: changes)
        #expect(ending == .changed)
        try await store.remove(for: "alice")
        #expect(await changes.next(1) == ["removed alice"])
    }

    @Test func pause_afterASuccess_isNone() async throws {
        var retries = ReadRetries()
        let ending = await retries.pause(after: nil, by: TestClock())
        #expect(ending == .noPause)
    }

    @Test func pause_afterALockedRead_isNone() async throws {
        var retries = ReadRetries()
        let ending = await retries.pause(after: .locked, by: TestClock())
        #expect(ending == .noPause)
    }
}
