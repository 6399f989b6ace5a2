// SPDX-License-Identifier: Apache-2.0
// A pipe inside the process, which ends a wait from another thread or from a signal handler.

import CKeychainShims
import Foundation
import KeychainEngine

/// Both ends close on exec and never block.
final class WakePipe: Sendable {
    let reading: Int32
    let writing: Int32

    init() throws(KeychainError) {
        var ends: [Int32] = [-1, -1]
        guard keychain_pipe(&ends) == 0 else { throw .noDescriptors }
        (reading, writing) = (ends[0], ends[1])
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
    }

    deinit {
        close(reading)
        close(writing)
    }

    /// Ends the wait. A full pipe has the same effect as one more byte.
    func wake() {
        var byte: UInt8 = 1
        _ = write(writing, &byte, 1)
    }

    /// The next byte that was written; `nil` if there is none.
    func next() -> UInt8? {
        var byte: UInt8 = 0
        return read(reading, &byte, 1) == 1 ? byte : nil
    }
}

extension KeychainError {
    static var noDescriptors: KeychainError {
        KeychainError(
            .unavailable,
            "The user cannot be asked: \(String(cString: strerror(errno))). Close files that are no longer needed.")
    }
}
