// SPDX-License-Identifier: Apache-2.0
// Threads for blocking calls to one store, so that they do not block Swift's cooperative thread pool.

import Dispatch
import Foundation
import KeychainEngine
import SecretMemory

#if os(Linux)
    import KeychainVault
#endif

/// A few threads for the calls to one store. A store that never answers can block only these threads.
final class WorkerQueue: Sendable {
    /// A unit of work. It checks whether it is still wanted before it runs.
    protocol Job: AnyObject, Sendable {
        func run()
    }

    private struct State {
        var waiting: [any Job] = []
        var threads = 0
        /// Threads that wait for a job and have not been signalled yet.
        var idle = 0
    }

    /// A vault runs reads at once and writes one after the other, of which those that wait share a transaction. Other calls wait for
    /// the user.
    static let maximumThreads = 8
    private static let idleTime = DispatchTimeInterval.seconds(5)

    private let state = Guarded(State())
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
        guard needsThread else { return }
        let work: @Sendable () -> Void = {
            while let job = self.nextJob() { job.run() }
        }
        // Where the system allows no more threads, Dispatch may still have one.
        if BlockingThread.start(work) != 0 { DispatchQueue.global().async(execute: work) }
    }

    /// Removes a job that has not begun.
    func remove(_ job: any Job) {
        state.withLock { $0.waiting.removeAll { $0 === job } }
    }

    /// - Returns: `nil` if there was no job for a while; the thread then ends.
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
                // Another thread may have signalled this one just now. Then the signal is still to be consumed.
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

extension WorkerQueue {
    /// The worker queue of a store. All users of a store share it, so that the number of threads depends on the number
    /// of stores, not of calls.
    static func of(_ store: any ItemStore) -> WorkerQueue {
        guard let id = identity(of: store) else { return WorkerQueue() }
        return workerQueues.withLock { workerQueues in
            if let workerQueue = workerQueues.first(where: { $0.store == id })?.workerQueue { return workerQueue }
            let workerQueue = WorkerQueue()
            workerQueues.removeAll { $0.workerQueue == nil }
            workerQueues.append(Weak(store: id, workerQueue: workerQueue))
            return workerQueue
        }
    }

    private static func identity(of store: any ItemStore) -> ObjectIdentifier? {
        #if os(Linux)
            // To make an object of any store takes the runtime ten times as long as a read, once in a process.
            if let vault = store as? Vault { return ObjectIdentifier(vault) }
        #endif
        return type(of: store) is AnyClass ? ObjectIdentifier(store as AnyObject) : nil
    }

    private struct Weak {
        let store: ObjectIdentifier
        weak var workerQueue: WorkerQueue?
    }

    /// Entries are weak. A `Backing` holds a store and its worker queue together, so an entry never outlives its store,
    /// and a new store at the same address cannot find it.
    private static let workerQueues = Guarded<[Weak]>([])
}
