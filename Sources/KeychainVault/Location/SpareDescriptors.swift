// SPDX-License-Identifier: Apache-2.0
// Whether a program can open the files that a vault needs.

import Foundation
import KeychainEngine

/// Call it before a database is opened. If a program has as many open files as it may, SQLite would report a file as
/// missing or damaged, and libdispatch, which closing a connection uses, would end the program.
enum SpareDescriptors {
    /// A connection takes four descriptors, the vault's other files three, libdispatch four.
    private static let count = 12

    /// - Parameter path: The path that is about to be opened, for the message.
    /// - Throws: `unavailable` if there are too few.
    static func check(_ path: String) throws(KeychainError) {
        // A folder, since closing a database file would release the locks that this process holds on it.
        let first = open(FileSafety.parent(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard first >= 0 else {
            guard errno != EMFILE && errno != ENFILE else { throw SystemFailure.failure("open", path) }
            return  // Opening the database will report the error.
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
