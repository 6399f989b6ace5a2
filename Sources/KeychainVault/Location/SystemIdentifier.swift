// SPDX-License-Identifier: Apache-2.0
// What tells one installation of a system, or one start of it, from another.

import Foundation
import KeychainEngine

enum SystemIdentifier {
    /// The beginning of a file of the system.
    ///
    /// - Returns: No bytes if there is no such file, as in a container, or a sandbox hides it.
    /// - Throws: An error if it cannot be read now. It must not look like another installation.
    static func read(_ path: String, limit: Int = 64) throws(KeychainError) -> Data {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            let code = errno
            guard [ENOENT, ENOTDIR, EACCES, EPERM].contains(code) else {
                throw SystemFailure.failure("open", path, code: code)
            }
            return Data()
        }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: limit)
        let count = Foundation.read(descriptor, &bytes, bytes.count)
        guard count >= 0 else { throw SystemFailure.failure("read", path) }
        return Data(bytes.prefix(count))
    }
}
