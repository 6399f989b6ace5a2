// SPDX-License-Identifier: Apache-2.0
// A pipe for all questions of one process.

import Foundation
import KeychainEngine
import SecretMemory

/// Makes its pipe at the first use. The child of a fork makes a pipe of its own: what it read and wrote would otherwise be missing,
/// or arrive, in its parent.
final class ProcessPipe: Sendable {
    private struct Content {
        let pipe: WakePipe
        let process: pid_t
    }

    private let content = Guarded<Content?>(nil)
    private let prepare: @Sendable (WakePipe) -> Void

    /// - Parameter prepare: Called with a new pipe, before any other use of it.
    init(_ prepare: @escaping @Sendable (WakePipe) -> Void) { self.prepare = prepare }

    /// The pipe of this process.
    func shared() throws(KeychainError) -> WakePipe {
        try content.withLock { (content) throws(KeychainError) in
            if let content, content.process == getpid() { return content.pipe }
            let made = try WakePipe()
            prepare(made)
            content = Content(pipe: made, process: getpid())
            return made
        }
    }
}
