// SPDX-License-Identifier: Apache-2.0
// Files that are read whole, up to a limit.

import Foundation
import KeychainKit

enum InputFile {
    /// The bytes of a file, a pipe or a device.
    static func read(_ path: String, limit: Int) throws(KeychainError) -> Data {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
        let name = "'\(path)'"
        guard descriptor >= 0 else { throw failure(name, errno) }
        defer { close(descriptor) }
        return try read(descriptor, name: name, limit: limit)
    }

    /// - Throws: `tooLarge` before more than the limit is kept.
    static func read(_ descriptor: Int32, name: String, limit: Int) throws(KeychainError) -> Data {
        try Descriptors.readAll(
            descriptor, limit: limit,
            tooLarge: KeychainError(.tooLarge, "Could not read \(name): it is longer than \(limit) bytes."),
            failure: { failure(name, $0) })
    }

    private static func failure(_ name: String, _ code: Int32) -> KeychainError {
        let reason: KeychainError.Reason = code == ENOENT || code == EACCES ? .unavailable : .inputOutput
        return KeychainError(reason, "Could not read \(name): \(String(cString: strerror(code))).")
    }
}
