// SPDX-License-Identifier: Apache-2.0
// One question at a time: two prompts on one terminal would take each other's answers.

import Foundation
import KeychainEngine
import Synchronization

enum Turn {
    /// Holds one byte while no question is open. It is a pipe, so that waiting for a turn can be cancelled like any
    /// other wait.
    private static let free = Mutex<WakePipe?>(nil)

    static func taken<Result>(
        _ waiting: Waiting, _ body: () throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        let pipe = try pipe()
        while pipe.next() == nil { try waiting.wait(for: pipe.reading, POLLIN) }
        defer { pipe.wake() }
        // The turn may have been granted just as the question was cancelled.
        try waiting.check()
        return try body()
    }

    private static func pipe() throws(KeychainError) -> WakePipe {
        try free.withLock { (pipe) throws(KeychainError) in
            if let pipe { return pipe }
            let made = try WakePipe()
            made.wake()
            pipe = made
            return made
        }
    }
}
