// SPDX-License-Identifier: Apache-2.0
// Threads on which calls to one store wait, so that no thread of Swift's own pool has to.

import Dispatch
import Foundation
import Synchronization

/// A few threads for the calls to one store. A store that never answers can hold up these, and nobody else.
final class Lane: Sendable {
    /// Something to run; asked first whether anybody still wants it.
    protocol Job: AnyObject, Sendable {
        func run()
    }

    private struct State {
        var waiting: [any Job] = []
        var threads = 0
        /// Threads that wait for a job and have not been called yet.
        var idle = 0
    }

    /// One call of a vault runs at a time anyhow; the others are for calls that wait for a person.
    static let maximumThreads = 8
    private static let idleTime = DispatchTimeInterval.seconds(5)

    private let state = Mutex(State())
    private let call = DispatchSemaphore(value: 0)

    func add(_ job: any Job) {
        let needsThread = state.withLock { state in
            state.waiting.append(job)
            if state.idle > 0 {
                state.idle -= 1
                call.signal()
                return false
            }
            guard state.threads < Self.maximumThreads else { return false }
            state.threads += 1
            return true
        }
        if needsThread { Thread.detachNewThread { self.work() } }
    }

    /// Takes back a job that has not begun.
    func remove(_ job: any Job) {
        state.withLock { $0.waiting.removeAll { $0 === job } }
    }

    private func work() {
        while let job = nextJob() { job.run() }
    }

    /// - Returns: `nil` if there was nothing to do for a while, and the thread shall end.
    private func nextJob() -> (any Job)? {
        while true {
            let job: (any Job)? = state.withLock { state in
                guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
                state.idle += 1
                return nil
            }
            if let job { return job }
            if call.wait(timeout: .now() + Self.idleTime) == .success { continue }
            let isDone = state.withLock { state in
                // Somebody may have called this thread just now; then the call is waiting for it.
                guard state.idle > 0 else { return false }
                state.idle -= 1
                state.threads -= 1
                return true
            }
            if isDone { return nil }
            call.wait()
        }
    }
}

extension Lane {
    /// The lane of a store: the same for all who use it, so that the number of threads is that of stores.
    static func of(_ store: any ItemStore) -> Lane {
        guard type(of: store) is AnyClass else { return Lane() }
        let id = ObjectIdentifier(store as AnyObject)
        return lanes.withLock { lanes in
            if let lane = lanes[id]?.lane { return lane }
            let lane = Lane()
            lanes = lanes.filter { $0.value.lane != nil }
            lanes[id] = Weak(lane: lane)
            return lane
        }
    }

    private struct Weak {
        weak var lane: Lane?
    }

    /// A store and its lane live together in a ``Keychain``, so an entry never outlives its store for a new one to meet.
    private static let lanes = Mutex<[ObjectIdentifier: Weak]>([:])
}
