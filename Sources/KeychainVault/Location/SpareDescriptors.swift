// SPDX-License-Identifier: Apache-2.0
// Whether a program has room for the files that a vault needs.

import Foundation
import KeychainEngine

/// To be asked before a database is opened. Where a program has all the files open that it may, SQLite would call a file missing
/// or damaged, and libdispatch, which closing a connection wakes up, would end the program.
enum SpareDescriptors {
    /// A connection takes four, the vault's other files three, libdispatch four.
    private static let count = 12

    /// - Parameter path: Of what is about to be opened, for the message.
    /// - Throws: `unavailable` if there are too few.
    static func check(_ path: String) throws(KeychainError) {
        // A folder: closing a database would end the locks that this process has on it.
        let first = open(FileSafety.parent(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard first >= 0 else {
            guard errno != EMFILE && errno != ENFILE else { throw SystemFailure.failure("open", path) }
            return  // Whoever opens the database says what is wrong.
        }
        var taken = [first]
        defer { for descriptor in taken { close(descriptor) } }
        while taken.count < count {
            let next = fcntl(first, F_DUPFD_CLOEXEC, 0)
            guard next >= 0 else { throw SystemFailure.failure("open", path, code: EMFILE) }
            taken.append(next)
        }
    }
}
