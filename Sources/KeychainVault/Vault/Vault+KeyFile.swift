// SPDX-License-Identifier: Apache-2.0
// Reading a key file that the user names.

import Foundation
public import KeychainEngine
public import SecretMemory

extension Vault {
    /// The bytes of a key file, for a ``ProtectorSecret`` of the kind `keyFile`.
    ///
    /// ```swift
    /// let secret = try vault.readKeyFile("/media/stick/keychain.key")
    /// try vault.unlock(ProtectorSecret(.keyFile, secret))
    /// ```
    ///
    /// - Throws: `unsafeLocation` if others may read or replace it, if it is not a regular file, or is inside the
    ///   vault's folder; `unavailable` if it does not exist, `invalidParameter` if it is shorter than 32 bytes or
    ///   longer than 4096.
    public func readKeyFile(_ path: String) throws(KeychainError) -> SecretBytes {
        guard !path.isEmpty, !path.utf8.contains(0) else { throw Self.noKeyFile(path) }
        try FileSafety.checkNotReplaceable(path)
        guard let status = try FileSafety.checkFile(path, allowingRoot: true) else { throw Self.noKeyFile(path) }
        try checkIsElsewhere(path)
        guard KeyFileProtector.lengths.contains(Int(status.st_size)) else { throw KeyFileProtector.wrongLength(path) }
        let secret = try PrivateFile.readSecret(path, limit: KeyFileProtector.lengths.upperBound)
        guard let secret else { throw Self.noKeyFile(path) }
        return secret
    }

    private func checkIsElsewhere(_ path: String) throws(KeychainError) {
        guard let file = FileSafety.resolved(path), let folder = FileSafety.resolved(location.folder),
            file.utf8.starts(with: (folder + "/").utf8)
        else { return }
        throw KeychainError(
            .unsafeLocation,
            "The key file '\(path)' lies inside the vault folder, where a copy of the vault would contain its key. "
                + "Keep it elsewhere.")
    }

    private static func noKeyFile(_ path: String) -> KeychainError {
        KeychainError(.unavailable, "There is no key file '\(path)'. Name one that exists.")
    }
}
