// SPDX-License-Identifier: Apache-2.0
// A file with secrets that only its owner may read.

import Foundation
import KeychainKit

enum PrivateOutput {
    /// Writes a file with mode 0600. At every moment the name has the old content or the whole new one.
    ///
    /// - Throws: `duplicateItem` if the file exists and is not to be replaced; `unsafeLocation` for a device, a pipe or a
    ///   link, which would become a file.
    static func write(_ bytes: Data, to path: String, replacing: Bool) throws(KeychainError) {
        var status = stat()
        guard lstat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG else {
            throw KeychainError(
                .unsafeLocation,
                "'\(path)' is not a regular file; nothing was written. Write to standard output instead.")
        }
        let temporary = try made(besides: path)
        do throws(KeychainError) {
            defer { close(temporary.descriptor) }
            try fill(temporary.descriptor, bytes, path)
        } catch {
            unlink(temporary.path)
            throw error
        }
        // A link fails if the name exists, and does not follow it.
        let code = replacing ? rename(temporary.path, path) : link(temporary.path, path)
        let failure = errno
        if code != 0 || !replacing { unlink(temporary.path) }
        guard code == 0 else { throw Self.failure(path, failure) }
    }

    private static func made(besides path: String) throws(KeychainError) -> (path: String, descriptor: Int32) {
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let folder = slash.map { String(path[...$0]) } ?? ""
        // An existing name is not opened.
        let temporary = folder + ".keychainctl-" + String(UInt64.random(in: .min ... .max), radix: 36)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure(path, errno) }
        return (temporary, descriptor)
    }

    private static func fill(_ descriptor: Int32, _ bytes: Data, _ path: String) throws(KeychainError) {
        // A strict umask would leave a file that its owner cannot read.
        guard fchmod(descriptor, 0o600) == 0 else { throw failure(path, errno) }
        let code = bytes.withUnsafeBytes { Output.writeAll($0, to: descriptor) }
        guard code == 0 else { throw failure(path, code) }
        guard fsync(descriptor) == 0 else { throw failure(path, errno) }
    }

    private static func failure(_ path: String, _ code: Int32) -> KeychainError {
        guard code != EEXIST else {
            return KeychainError(.duplicateItem, "The file '\(path)' exists. To replace it, add: --replace")
        }
        return KeychainError(.inputOutput, "Could not write '\(path)': \(String(cString: strerror(code))).")
    }
}
