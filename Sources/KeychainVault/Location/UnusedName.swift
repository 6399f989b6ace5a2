// SPDX-License-Identifier: Apache-2.0
// Giving a file a name that nothing else has.

import CKeychainShims
import Foundation
import KeychainEngine

enum UnusedName {
    /// Gives a file a name in one step, unless something else has that name; that is left as it is.
    ///
    /// Not every file system can rename without replacing. On others the name is added by a hard link, and the caller
    /// removes the old name.
    ///
    /// - Parameter rename: Renames without replacing and returns an errno. Tests pass what such a file system does.
    /// - Returns: `false` if something else has the name.
    static func give(
        _ name: String, to path: String,
        rename: (_ path: String, _ name: String) -> Int32 = { keychain_give_unused_name($0, $1) }
    ) throws(KeychainError) -> Bool {
        let code = rename(path, name)
        switch code {
        case 0: return true
        case EEXIST: return false
        case EINVAL, ENOSYS, ENOTSUP: return try add(name, to: path)
        default: throw SystemFailure.failure("rename", path, code: code)
        }
    }

    private static func add(_ name: String, to path: String) throws(KeychainError) -> Bool {
        if link(path, name) == 0 { return true }
        let code = errno
        switch code {
        // A network file system may repeat a call whose answer was lost.
        case EEXIST: return FileIdentity(path).map { $0 == FileIdentity(name) } ?? false
        case EPERM, ENOSYS, ENOTSUP: return try replaceNothingKnown(name, path)
        default: throw SystemFailure.failure("rename", path, code: code)
        }
    }

    /// For a file system without hard links: something that gets the name between the two calls is replaced.
    private static func replaceNothingKnown(_ name: String, _ path: String) throws(KeychainError) -> Bool {
        guard FileIdentity(name) == nil else { return false }
        guard rename(path, name) == 0 else { throw SystemFailure.failure("rename", path) }
        return true
    }
}
