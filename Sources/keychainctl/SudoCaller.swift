// SPDX-License-Identifier: Apache-2.0
// No files of root in the folders of the user who called sudo.

import Foundation
import KeychainKit
import KeychainVault
import SecretMemory

/// `sudo -E` keeps HOME. Of what root makes there, the user can read and remove nothing; programs of the user then lack
/// their folder `~/.config`.
enum SudoCaller {
    static func check(_ location: VaultLocation) throws(KeychainError) {
        try check([location.folder, FileSafety.parent(of: location.deviceKeyFile), location.stateFolder])
    }

    /// - Throws: `unsafeLocation`.
    static func check(_ folders: [String]) throws(KeychainError) {
        guard geteuid() == 0, let caller = ProcessEnvironment.current.value("SUDO_UID").flatMap(UInt32.init),
            caller != 0,
            let folder = existing(folders, of: caller)
        else { return }
        throw KeychainError(
            .unsafeLocation,
            "'\(folder)' belongs to the user who called sudo, and root would make files there that this user cannot read. "
                + "Nothing was changed. Leave out sudo, or use root's home folder: sudo -H")
    }

    /// The first folder of this user into which one of the folders would be made, or that is one of them.
    static func existing(_ folders: [String], of user: uid_t) -> String? {
        for var folder in folders {
            var status = stat()
            while stat(folder, &status) != 0, folder.utf8.count > 1 {
                folder = FileSafety.parent(of: folder)
            }
            if status.st_uid == user { return folder }
        }
        return nil
    }
}
