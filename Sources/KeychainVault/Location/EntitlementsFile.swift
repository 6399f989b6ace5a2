// SPDX-License-Identifier: Apache-2.0
// Where a program's entitlements lie, and reading them.

import Foundation
import KeychainEngine

/// The property list with the entitlements of the running program.
///
/// Unlike the vault's files it may be readable by all, a link, and another user's: what a package installs is root's.
struct EntitlementsFile {
    let path: String
    let bytes: Data

    /// - Parameter executable: The program's file, with links resolved; `nil` for the one that runs.
    /// - Returns: `nil` only if no file is named, and none lies beside the program.
    static func find(
        _ environment: [String: String], executable: String?
    ) throws(KeychainError) -> EntitlementsFile? {
        if let path = environment["KEYCHAIN_ENTITLEMENTS"] { return try named(path) }
        let program: String
        if let executable { program = executable } else { program = try RunningProgram.path() }
        return try reading(program + ".entitlements")
    }

    private static func named(_ path: String) throws(KeychainError) -> EntitlementsFile {
        guard path.utf8.first == UInt8(ascii: "/"), !path.utf8.contains(0) else {
            throw KeychainError(
                .unavailable,
                "KEYCHAIN_ENTITLEMENTS names no file: '\(path)'. Give an absolute path, or unset the variable.")
        }
        guard let file = try reading(path) else {
            throw KeychainError(
                .unavailable,
                "The entitlements '\(path)' do not exist. Put them there, or unset KEYCHAIN_ENTITLEMENTS.")
        }
        return file
    }

    private static func reading(_ path: String) throws(KeychainError) -> EntitlementsFile? {
        // O_NONBLOCK: opening a pipe must not wait for somebody to write.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        if descriptor < 0 {
            let code = errno
            // A link that leads nowhere is there, so somebody meant something by it.
            guard code == ENOENT, try FileSafety.status(path) == nil else {
                throw SystemFailure.failure("open the entitlements", path, code: code)
            }
            return nil
        }
        defer { close(descriptor) }
        return EntitlementsFile(path: path, bytes: try contents(descriptor, path))
    }

    private static func contents(_ descriptor: Int32, _ path: String) throws(KeychainError) -> Data {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw SystemFailure.failure("look at", path) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw KeychainError(
                .unavailable,
                "The entitlements '\(path)' are \(FileSafety.kind(status)), not a regular file. Move it away.")
        }
        var bytes = Data()
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        // What is above the limit is told by the one who knows what it is about.
        while bytes.count <= Entitlements.sizeLimit {
            let count = read(descriptor, &chunk, chunk.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw SystemFailure.failure("read", path) }
            guard count > 0 else { break }
            bytes += chunk.prefix(count)
        }
        return bytes
    }
}
