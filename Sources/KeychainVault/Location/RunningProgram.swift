// SPDX-License-Identifier: Apache-2.0
// Which file the running program was started from.

import Foundation
import KeychainEngine

enum RunningProgram {
    /// The program's file, with links resolved.
    ///
    /// A link to start a program by leads to where the program was installed, and its entitlements with it. The name that the
    /// program was called by (`argv[0]`) is whatever the one who started it wrote there.
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

    /// A program whose file was replaced since it started keeps the path, which the kernel marks. To look for entitlements
    /// at the marked path would find none.
    static func withoutDeletionMark(_ path: String) throws(KeychainError) -> String {
        let mark = " (deleted)"
        guard path.utf8.suffix(mark.utf8.count).elementsEqual(mark.utf8) else { return path }
        guard try FileSafety.status(path) == nil else { return path }
        return String(decoding: path.utf8.dropLast(mark.utf8.count), as: UTF8.self)
    }

    static func linkTarget(_ link: String) throws(KeychainError) -> String {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(link, &bytes, bytes.count)
        // A path outside of what the process may reach does not begin with a slash.
        guard count > 0, count < bytes.count,
            let path = String(validating: bytes.prefix(count), as: UTF8.self), path.utf8.first == UInt8(ascii: "/")
        else { throw unknown }
        return path
    }

    private static let unknown = KeychainError(
        .unavailable,
        "The system does not say which file this program was started from, or its path is no UTF-8, so that its "
            + "entitlements cannot be looked for beside it. Name them in KEYCHAIN_ENTITLEMENTS.")
}
