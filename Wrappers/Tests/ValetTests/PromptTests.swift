// SPDX-License-Identifier: Apache-2.0
// Questions of valets that ask once, while several threads want something.

import Dispatch
import Foundation
import KeychainEngine
@_spi(Wrappers) import KeychainKit
import SecretMemory
import Synchronization
import Testing
import WrapperStores

@testable import Valet

/// A user who answers when the test allows it, and counts the questions.
private final class SlowPerson: Authenticator {
    let methods: Set<AuthenticationMethod> = [.passphrase]
    let isAsked = DispatchSemaphore(value: 0)
    let mayAnswer = DispatchSemaphore(value: 0)
    private let asked = Mutex(0)

    var count: Int { asked.withLock { $0 } }

    func ask(_: AuthenticationQuestion) throws(KeychainKit.KeychainError) -> AuthenticationAnswer {
        asked.withLock { $0 += 1 }
        isAsked.signal()
        guard mayAnswer.wait(timeout: .now() + 600) == .success else {
            throw KeychainKit.KeychainError(.timedOut, "The test does not let the person answer.")
        }
        // Others are let through as well.
        mayAnswer.signal()
        return .secret(SecretBytes(text: passphrase))
    }
}

/// What threads have come to.
private final class Outcomes: Sendable {
    private let state = Mutex<[Result<String, any Error>]>([])

    var values: [String] { state.withLock { $0.compactMap { try? $0.get() } } }
    var failures: [any Error] {
        state.withLock { $0.compactMap { if case .failure(let error) = $0 { error } else { nil } } }
    }

    func add(_ body: () throws -> String) {
        let result = Result { try body() }
        state.withLock { $0.append(result) }
    }
}

@Suite("Prompts of valets that ask once")
struct PromptTests {
    private let person = SlowPerson()
    private let valet: SinglePromptSecureEnclaveValet

    init() throws {
        let person = person
        valet = try SinglePromptSecureEnclaveValet.valet(with: .named("app"), accessControl: .userPresence)
            .using(MemoryStore(passphrase: passphrase), context: AuthenticationContext { person })
        try valet.setString("s3cret", forKey: "key")
    }

    private func read(on threads: DispatchGroup, _ outcomes: Outcomes, count: Int) {
        for _ in 1...count {
            threads.enter()
            Thread.detachNewThread { [valet] in
                outcomes.add { try valet.string(forKey: "key", withPrompt: "") }
                threads.leave()
            }
        }
    }

    @Test(.timeLimit(.minutes(60)))
    func threads_thatReadAtTheSameTime_areAskedOnce() {
        let (threads, outcomes) = (DispatchGroup(), Outcomes())
        read(on: threads, outcomes, count: 8)
        #expect(person.isAsked.wait(timeout: .now() + 600) == .success)
        // The others have time to ask as well, if they would.
        _ = person.isAsked.wait(timeout: .now() + .milliseconds(200))
        person.mayAnswer.signal()
        #expect(threads.wait(timeout: .now() + 600) == .success)
        #expect(outcomes.values.count == 8)
        #expect(person.count == 1)
    }

    /// What was begun before ends as it would have; what is begun after asks.
    @Test(.timeLimit(.minutes(60)))
    func promptThatIsRequired_whileSomebodyIsAsked_failsNobody() throws {
        let (threads, outcomes) = (DispatchGroup(), Outcomes())
        read(on: threads, outcomes, count: 1)
        #expect(person.isAsked.wait(timeout: .now() + 600) == .success)
        valet.requirePromptOnNextAccess()
        person.mayAnswer.signal()
        #expect(threads.wait(timeout: .now() + 600) == .success)
        #expect(outcomes.failures.isEmpty)
        #expect(person.count == 1)
        _ = try valet.string(forKey: "key", withPrompt: "")
        #expect(person.count == 2)
    }

    @Test(.timeLimit(.minutes(60)))
    func calls_thatAskNobody_doNotWaitForTheAnswer() throws {
        let (threads, outcomes) = (DispatchGroup(), Outcomes())
        read(on: threads, outcomes, count: 1)
        #expect(person.isAsked.wait(timeout: .now() + 600) == .success)
        #expect(try valet.containsObject(forKey: "key"))
        person.mayAnswer.signal()
        #expect(threads.wait(timeout: .now() + 600) == .success)
        #expect(outcomes.values == ["s3cret"])
    }

    @Test(.timeLimit(.minutes(60)))
    func prompts_requiredWhileOthersRead_failNobody() {
        person.mayAnswer.signal()
        let (threads, outcomes) = (DispatchGroup(), Outcomes())
        for _ in 1...50 {
            read(on: threads, outcomes, count: 1)
            valet.requirePromptOnNextAccess()
        }
        #expect(threads.wait(timeout: .now() + 600) == .success)
        #expect(outcomes.failures.isEmpty)
    }
}
