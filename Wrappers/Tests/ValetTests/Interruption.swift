// SPDX-License-Identifier: Apache-2.0
// Changes by another program in the middle of a call.

import Dispatch
import Foundation
import KeychainTesting
import Synchronization
import Testing

extension ScriptedStore {
    /// Runs a call on another thread, and something else before the call's first change of this store.
    func interrupt(_ call: @escaping @Sendable () throws -> Void, by act: () throws -> Void) throws {
        fail(.slow(.seconds(600)), on: [.insert, .transaction])
        let ended = DispatchSemaphore(value: 0)
        let failure = Mutex<(any Error)?>(nil)
        Thread.detachNewThread {
            do { try call() } catch { failure.withLock { $0 = error } }
            ended.signal()
        }
        #expect(waitUntilBlocked(patience: .seconds(600)))
        do { try act() } catch { Issue.record(error) }
        release()
        #expect(ended.wait(timeout: .now() + 600) == .success)
        if let failure = failure.withLock({ $0 }) { throw failure }
    }
}
