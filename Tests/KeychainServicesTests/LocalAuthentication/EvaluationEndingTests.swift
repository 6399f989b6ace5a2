// SPDX-License-Identifier: Apache-2.0
// Evaluations that are ended from outside, and the threads they take.

import Foundation
import KeychainEngine
import KeychainServices
import KeychainTestSupport
import Synchronization
import Testing

@Suite("LocalAuthentication: endings and threads", .timeLimit(.minutes(60)))
struct EvaluationEndingTests {
    @Test func invalidate_whileAQuestionIsOpen_isAppCancelAndThenInvalidContext() async throws {
        let person = SlowPerson()
        let keychain = try ProtectedKeychain(.memory, person)
        let context = keychain.context()
        let (replies, reply) = AsyncStream.makeStream(of: LAError.Code?.self)
        context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "Show your notes") { _, error in
            reply.yield((error as? LAError)?.code)
        }
        await person.wasAsked()
        context.invalidate()
        for await code in replies {
            #expect(code == .appCancel)
            break
        }
        #expect(await context.outcome() == .invalidContext)
        #expect(context.refusal() == .invalidContext)
        #expect(context.refusal(.deviceOwnerAuthenticationWithBiometrics) == .invalidContext)
    }

    @Test func invalidate_afterAnEvaluation_forgetsIt() async throws {
        let keychain = try ProtectedKeychain(.memory)
        let context = keychain.context()
        #expect(await context.outcome() == nil)
        context.invalidate()
        #expect(await context.outcome() == .invalidContext)
    }

    @Test func invalidate_whileASearchAsks_isAuthFailed() async throws {
        let person = SlowPerson()
        let keychain = try ProtectedKeychain(.memory, person)
        try keychain.add()
        let context = keychain.context()
        let (statuses, status) = AsyncStream.makeStream(of: OSStatus.self)
        let query = UncheckedQuery(genp(["u_AuthCtx": context]))
        Thread.detachNewThread { status.yield(keychain.services.copyMatching(query.dictionary, nil)) }
        await person.wasAsked()
        context.invalidate()
        for await status in statuses {
            #expect(status == errSecAuthFailed)
            break
        }
    }

    @Test func task_cancelledWhileAQuestionIsOpen_isAppCancelAndLeavesTheContextUsable() async throws {
        let person = SlowPerson()
        let keychain = try ProtectedKeychain(.memory, person)
        let task = Task {
            let context = keychain.context()
            let cancelled = await context.outcome()
            // The task stays cancelled, so this one asks from another.
            let later = Task.detached { [context = UncheckedContext(context)] in await context.context.outcome() }
            return (cancelled, await later.value)
        }
        await person.wasAsked()
        task.cancel()
        await person.wasAsked()
        person.answer(Person.passphrase)
        let outcomes = await task.value
        #expect(outcomes.0 == .appCancel)
        #expect(outcomes.1 == nil)
    }

    @Test func task_cancelledBefore_asksNobody() async throws {
        let keychain = try ProtectedKeychain(.memory)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await keychain.context().outcome()
        }
        #expect(await task.value == .appCancel)
        #expect(keychain.questions.isEmpty)
    }

    // MARK: - Threads

    @Test(arguments: [LAPolicy.deviceOwnerAuthentication, .deviceOwnerAuthenticationWithBiometrics])
    func reply_arrivesOnAnotherThreadThanTheCallers(policy: LAPolicy) throws {
        let keychain = try ProtectedKeychain(.memory)
        let replied = DispatchSemaphore(value: 0)
        let isSame = Mutex(true)
        let caller = ObjectIdentifier(Thread.current)
        keychain.context().evaluatePolicy(policy, localizedReason: "x") { _, _ in
            isSame.withLock { $0 = ObjectIdentifier(Thread.current) == caller }
            replied.signal()
        }
        #expect(replied.wait(timeout: .now() + 600) == .success)
        #expect(!isSame.withLock { $0 })
    }

    @Test func hundredEvaluations_waitingForAPerson_leaveThePoolFree() async throws {
        let person = SlowPerson()
        let keychain = try ProtectedKeychain(.memory, person)
        let tasks = (1...100).map { _ in Task { await keychain.context().outcome() } }
        await person.wasAsked(times: 100)
        #expect(await Task.detached { true }.value)
        person.answer(Person.passphrase)
        for task in tasks { #expect(await task.value == nil) }
    }
}

/// Carried to one other thread and used only there.
private struct UncheckedQuery: @unchecked Sendable {
    let dictionary: NSDictionary

    init(_ entries: Entries) { dictionary = entries as NSDictionary }
}

private struct UncheckedContext: @unchecked Sendable {
    let context: LAContext

    init(_ context: LAContext) { self.context = context }
}
