// SPDX-License-Identifier: Apache-2.0
// A thread that may wait for the user.

import Foundation
package import KeychainEngine
import SecretMemory

package enum WaitingThread {
    /// Runs `body` on a separate thread.
    ///
    /// - Throws: `unavailable`; `body` does not run then.
    package static func start(_ body: @escaping @Sendable () -> Void) throws(KeychainError) {
        let code = BlockingThread.start(body)
        guard code != 0 else { return }
        throw KeychainError(
            .unavailable,
            "The user cannot be asked: no thread could be created (\(String(cString: strerror(code)))). Try again later."
        )
    }
}
