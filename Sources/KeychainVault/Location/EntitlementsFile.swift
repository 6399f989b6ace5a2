// SPDX-License-Identifier: Apache-2.0
// Finding and reading a program's entitlements.

import Foundation
import KeychainEngine

/// The property list with the entitlements of the running program.
///
/// Unlike the vault's files it may be readable by all, be a link, and belong to another user: installed packages belong
/// to root.
struct EntitlementsFile {
    let path: String
    let bytes: Data

    /// - Parameter executable: The program's file, with links resolved; `nil` for the running one.
    /// - Returns: `nil` only if no file is named, and there is none beside the program.
    static func find(
        _ environment: [String: String], executable: String?
    ) throws(KeychainError) -> EntitlementsFile? {
        // An empty path is a mistake, not none: it must not lift the restriction.
        if let path = environment["KEYCHAIN_ENTITLEMENTS"] { return try named(path) }
        let program: String
        if let executable { program = executable } else { program = try RunningProgram.path() }
        return try reading(program + ".entitlements")
    }

    private static func named(_ path: String) throws(KeychainError) -> EntitlementsFile {
        guard path.utf8.first == UInt8(ascii: "/"), !path.utf8.contains(0) else {
            throw KeychainError(
                .unavailable,
                "KEYCHAIN_ENTITLEMENTS is not the path of a file: '\(path)'. Give an absolute path, or unset the variable."
            )
        }
        guard let file = try reading(path) else {
            throw KeychainError(
                .unavailable,
                "The entitlements file '\(path)' does not exist. Create it, or unset KEYCHAIN_ENTITLEMENTS.")
        }
        return file
    }

    private static func reading(_ path: String) throws(KeychainError) -> EntitlementsFile? {
        // O_NONBLOCK: opening a pipe must not wait for a writer.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        if descriptor < 0 {
            let code = errno
            // A dangling link was created on purpose, so it does not count as no file.
            guard code == ENOENT, try FileSafety.status(path) == nil else {
                throw SystemFailure.failure("open the entitlements file", path, code: code)
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
                "The entitlements file '\(path)' is \(FileSafety.kind(status)), not a regular file. Move it away.")
        }
        var bytes = Data()
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        // Read one chunk beyond the limit at most; the parser reports the excess.
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
