// SPDX-License-Identifier: Apache-2.0
// The file of the running program.

import Foundation
import KeychainEngine

enum RunningProgram {
    /// The program's file, with links resolved.
    ///
    /// A link that starts a program leads to the installed program, which has its entitlements beside it. The name in
    /// `argv[0]` is chosen by the caller.
    ///
    /// - Throws: `unavailable` if the system does not say.
    static func path() throws(KeychainError) -> String {
        #if os(Linux)
            try withoutDeletionMark(linkTarget("/proc/self/exe"))
        #else
            guard let path = Bundle.main.executablePath, let resolved = FileSafety.resolved(path) else { throw unknown }
            return resolved
        #endif
    }

    /// If the program's file was replaced since its start, the kernel adds a mark to the path. A search for
    /// entitlements at the marked path would find none.
    static func withoutDeletionMark(_ path: String) throws(KeychainError) -> String {
        let mark = " (deleted)"
        guard path.utf8.suffix(mark.utf8.count).elementsEqual(mark.utf8) else { return path }
        guard try FileSafety.status(path) == nil else { return path }
        return String(decoding: path.utf8.dropLast(mark.utf8.count), as: UTF8.self)
    }

    static func linkTarget(_ link: String) throws(KeychainError) -> String {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(link, &bytes, bytes.count)
        // A path that the process cannot reach does not begin with a slash.
        guard count > 0, count < bytes.count,
            let path = String(validating: bytes.prefix(count), as: UTF8.self), path.utf8.first == UInt8(ascii: "/")
        else { throw unknown }
        return path
    }

    private static let unknown = KeychainError(
        .unavailable,
        "The path of this program's executable is unknown or is not UTF-8, so the entitlements file beside it cannot "
            + "be found. Set KEYCHAIN_ENTITLEMENTS to the path of the entitlements file.")
}
