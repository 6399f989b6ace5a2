// SPDX-License-Identifier: Apache-2.0
// Operations on items, and the ways in which each may end.

import Foundation
import KeychainCrypto
import KeychainEngine
import KeychainKit
import KeychainVault
import SecretMemory

/// A person who answers as a test wants.
private struct ScriptedPerson: Authenticator {
    let outcome: String
    let methods: Set<AuthenticationMethod> = [.passphrase]

    func ask(_ question: AuthenticationQuestion) throws(KeychainError) -> AuthenticationAnswer {
        switch outcome {
        case "cancelled": throw KeychainError(.cancelled, "Cancelled.")
        case "timed-out": throw KeychainError(.timedOut, "The user did not answer in time.")
        default: return .secret(Planted.passphrase(outcome == "ok" ? 1 : 9))
        }
    }
}

extension Needles {
    private struct OwnError: Error {}

    /// Reads an item that asks for the user.
    func prompt() throws {
        let person = ScriptedPerson(outcome: outcome)
        let engine = Engine(store: vault, authenticator: { () throws(KeychainError) in person })
        var query = Query(.genericPassword, [.service: .string("exerciser"), .account: .string("asked")])
        query.returns = .value
        guard case .one(.value(var value)) = try engine.copyMatching(query, accessGroups: .unrestricted) else {
            exit(66)
        }
        value.wipe()
    }

    func useItems() async throws {
        if ["read", "list"].contains(operation) {
            try await behindOthers { try await useItem() }
        } else {
            try await endingBeforeTheCommit { try await useItem() }
        }
    }

    private func useItem() async throws {
        var store = SecretStore(service: "exerciser", store: vault)
        if outcome == "timed-out" { store.timeout = Timeout(operation: .milliseconds(200)) }
        switch operation {
        case "save": try await store.save(Planted.value(11), for: "new")
        case "create": try await store.create(Planted.value(11), for: outcome == "error" ? Planted.account : "new")
        case "update": try await update(store)
        case "remove": try await store.remove(for: Planted.account)
        case "read": try await read(store)
        case "list": guard try await store.items().contains(where: { $0.account == Planted.account }) else { exit(66) }
        default: try await change(store)
        }
    }

    private func read(_ store: SecretStore) async throws {
        guard try await store.read(SecretValue.self, for: Planted.account) == Planted.value(10) else { exit(66) }
    }

    private func update(_ store: SecretStore) async throws {
        let fails = outcome == "error"
        try await store.update(SecretValue.self, for: Planted.account) { value in
            value = Planted.value(12)
            if fails { throw OwnError() }
        }
    }

    private func change(_ store: SecretStore) async throws {
        let fails = outcome == "error"
        try await store.transaction { transaction in
            let old = try await transaction.read(SecretValue.self, for: Planted.account)
            guard old == Planted.value(10) else { exit(66) }
            try transaction.save(Planted.value(11), for: "new")
            try transaction.save(Planted.value(12), for: Planted.account)
            if fails { throw OwnError() }
        }
    }

    // MARK: - Endings

    /// Cancels a change, or lets its time run out, when all of it is written and nothing committed.
    private func endingBeforeTheCommit(_ body: @escaping @MainActor () async throws -> Void) async throws {
        let task = Task { try await body() }
        guard ["cancelled", "timed-out"].contains(outcome) else { return try await task.value }
        let (ended, cancels) = (DispatchSemaphore(value: 0), outcome == "cancelled")
        PausePoint.observe { point in
            guard point == .beforeCommit else { return }
            if cancels { task.cancel() } else { _ = ended.wait(timeout: .now() + 20) }
        }
        let result = await task.result
        ended.signal()
        // The thread of the call gives the lock up when it has rolled back.
        WriterLock(vault).release()
        PausePoint.observe(nil)
        try result.get()
    }

    /// Has all threads of the vault wait for another writer, so that a call behind them ends before it begins.
    private func behindOthers(_ body: @escaping @MainActor () async throws -> Void) async throws {
        guard ["cancelled", "timed-out"].contains(outcome) else { return try await body() }
        let (lock, vault) = (WriterLock(vault), vault)
        var begun = 0
        let others = (0..<8).map { _ in
            Task {
                begun += 1
                try await SecretStore(service: "exerciser", store: vault).save(Planted.value(11), for: "new")
            }
        }
        while begun < others.count { await Task.yield() }
        // A call may go on elsewhere before it is in the queue.
        waitUntilOtherThreadsSleep()
        let task = Task { try await body() }
        if outcome == "cancelled" { Task { task.cancel() } }
        let result = await task.result
        for other in others { other.cancel() }
        for other in others { _ = await other.result }
        lock.release()
        try result.get()
    }
}
