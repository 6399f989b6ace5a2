// SPDX-License-Identifier: Apache-2.0
// The errors of archives. They never quote content.

import Foundation
import KeychainKit

extension KeychainError {
    /// The bytes are not those of a whole, unchanged archive.
    static func damagedArchive(_ why: String) -> KeychainError {
        KeychainError(.corrupt, "The file is damaged, cut or not an export: \(why). Use another copy of it.")
    }

    static func archiveFile(_ action: String, _ path: String, code: Int32 = errno) -> KeychainError {
        let reason: KeychainError.Reason =
            switch code {
            case ENOSPC, EDQUOT, EFBIG: .diskFull
            case EROFS: .readOnly
            case ENOENT, ENOTDIR, EACCES, EPERM: .unavailable
            case EEXIST: .duplicateItem
            default: .inputOutput
            }
        return KeychainError(reason, "Could not \(action) '\(path)': \(String(cString: strerror(code))).")
    }
}
