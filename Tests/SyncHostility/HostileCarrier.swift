// SPDX-License-Identifier: Apache-2.0
// A carrier of sync that does what a test tells it to, instead of what a machine asks for.

package import Foundation
package import KeychainSync
package import KeychainSyncCore
import Synchronization

/// A carrier over another one, as one machine sees it: it shows what its script says, and stores, holds back or fails as it says.
///
/// ```swift
/// let view = HostileCarrier(over: FolderCarrier(folder, ring: ring))
/// view.withhold { $0 == name }
/// ```
///
/// Two machines with a carrier of their own over the same one see different things. Without a script it shows everything.
package final class HostileCarrier: Carrier {
    /// What lies under each name; several objects of one name if there are several.
    package typealias Objects = [ObjectName: [Data]]

    struct State {
        /// What is shown, in order.
        var script: [@Sendable (inout Objects) -> Void] = []
        /// What this machine alone sees; `nil` if it sees what is there.
        var fork: Objects?
        var failures: [CarrierFailure] = []
        /// Segments of which it says that something else is there, although it has stored them.
        var denied: @Sendable (ObjectName) -> Bool = { _ in false }
        var keepsEverything = false
        var losesEverything = false
        var tellsContents = true
        var tellsChanges = true
        var copies = 1
        /// How many more calls are answered; `nil`: all.
        var answered: Int?
        var held: [CheckedContinuation<Void, Never>] = []
        var published: [ObjectName] = []
    }

    private let base: any Carrier
    private let state = Mutex(State())

    package init(over base: any Carrier) { self.base = base }

    func change<Result: Sendable>(_ body: (inout sending State) -> sending Result) -> Result {
        state.withLock { body(&$0) }
    }

    // MARK: - What is there, and what is shown

    /// Everything that the carrier underneath has.
    package func objects() async throws(CarrierFailure) -> Objects {
        let names = try await base.list().names.sorted()
        return Dictionary(grouping: try await base.read(names).objects, by: \.name).mapValues { $0.map(\.bytes) }
    }

    /// What the machine sees.
    package func shown() async throws(CarrierFailure) -> Objects {
        let (script, fork) = state.withLock { ($0.script, $0.fork) }
        var objects = if let fork { fork } else { try await self.objects() }
        for change in script { change(&objects) }
        return objects.filter { !$0.value.isEmpty }
    }

    /// The names of everything that the machine has published here.
    package var published: [ObjectName] { state.withLock { $0.published } }

    /// How many calls wait for ``release()``.
    package var heldCount: Int { state.withLock { $0.held.count } }

    // MARK: - The carrier

    package func list() async throws(CarrierFailure) -> Listing {
        try await begin()
        let objects = try await shown()
        let isTold = state.withLock { $0.tellsContents }
        let contents = objects.mapValues { Set($0.map { ListedContent($0) }) }
        return Listing(names: Set(objects.keys), contents: isTold ? contents : [:])
    }

    package func read(_ names: [ObjectName]) async throws(CarrierFailure) -> CarrierReading {
        try await begin()
        let (objects, copies) = (try await shown(), state.withLock { $0.copies })
        var reading = CarrierReading()
        for _ in 0..<copies {
            for name in names { reading.objects += (objects[name] ?? []).map { (name, $0) } }
        }
        return reading
    }

    package func publish(
        _ name: ObjectName, _ bytes: Data, beside isBeside: Bool
    ) async throws(CarrierFailure) -> Publication {
        try await begin()
        let (isDenied, isLost) = state.withLock { state in
            state.published.append(name)
            return (state.denied(name), state.losesEverything)
        }
        if isLost { return .created }
        if let outcome = publishInFork(name, bytes, isBeside) { return outcome }
        let outcome = try await base.publish(name, bytes, beside: isBeside)
        return isDenied ? .otherThere : outcome
    }

    private func publishInFork(_ name: ObjectName, _ bytes: Data, _ isBeside: Bool) -> Publication? {
        state.withLock { state in
            guard let there = state.fork.map({ $0[name] ?? [] }) else { return nil }
            if there.contains(bytes) { return .alreadySame }
            if case .segment = name, !there.isEmpty, !isBeside { return .otherThere }
            state.fork?[name, default: []].append(bytes)
            return .created
        }
    }

    package func remove(_ names: [ObjectName]) async throws(CarrierFailure) {
        try await begin()
        let isDone = state.withLock { state in
            if state.fork != nil { for name in names { state.fork?[name] = nil } }
            return state.fork != nil || state.keepsEverything
        }
        if !isDone { try await base.remove(names) }
    }

    package func changes() -> AsyncStream<Void> {
        state.withLock { $0.tellsChanges } ? base.changes() : AsyncStream { $0.finish() }
    }

    /// Waits as long as calls are held, and fails if it is told to.
    private func begin() async throws(CarrierFailure) {
        await withCheckedContinuation { continuation in
            let isHeld = state.withLock { state in
                let isHeld = state.answered == 0
                if isHeld { state.held.append(continuation) } else { state.answered? -= 1 }
                return isHeld
            }
            if !isHeld { continuation.resume() }
        }
        let failure = state.withLock { $0.failures.isEmpty ? nil : $0.failures.removeFirst() }
        if let failure { throw failure }
    }

    // MARK: - Changing what is there for all machines

    /// Makes the carrier underneath hold exactly these objects, as a restored backup does.
    package func restore(_ objects: Objects) async throws(CarrierFailure) {
        let there = try await self.objects()
        try await base.remove(there.keys.filter { objects[$0] != there[$0] })
        for (name, contents) in objects where there[name] != contents {
            for bytes in contents { _ = try await base.publish(name, bytes, beside: true) }
        }
    }
}
