// SPDX-License-Identifier: Apache-2.0
// The examples of the article on tests that take KeychainTesting, word for word: each ends where the expectations begin.

import Foundation
import KeychainKit
import KeychainTesting
import Testing

@Suite("Examples of the article on tests", .timeLimit(.minutes(60)))
struct ArticleExamples {
    private struct Session {
        var store: SecretStore

        func token() throws(KeychainError) -> String? { try store.read(for: "token") }
    }

    @Test func script_inTheArticle_locksOneRead() throws {
        let scripted = ScriptedStore()
        let session = Session(store: SecretStore(service: "com.example.app", store: scripted))
        scripted.fail(.locked, on: [.select])
        let error = #expect(throws: KeychainError.self) { try session.token() }
        #expect(error?.reason == .locked)
        #expect(try session.token() == nil)
    }

    @Test func clock_inTheArticle_endsACallThatIsNeverAnswered() async throws {
        let scripted = ScriptedStore()
        scripted.fail(.neverAnswers)
        let time = TestClock()
        var store = SecretStore(service: "com.example.app", store: scripted)
        store.clock = time
        let call = Task { [store] in try await store.read(String.self, for: "token") }
        await time.untilSleeping()
        time.advance(by: .seconds(10))
        let error = await #expect(throws: KeychainError.self) { try await call.value }
        #expect(error?.reason == .timedOut)
        scripted.reset()
        #expect(time.elapsed == .seconds(10))
    }

    @Test func date_inTheArticle_isTheTests() throws {
        let time = TestClock()
        var store = SecretStore(service: "com.example.app", store: MemoryStore())
        store.now = { time.date }
        try store.save("s3cret", for: "token")
        time.advance(by: .seconds(3600))
        let changed = try store.item(for: "token")?.modified
        #expect(changed == time.date - 3600)
    }
}
