// SPDX-License-Identifier: Apache-2.0
// A program that handles the user's secret.

import Foundation
import KeychainEngine
import SecretMemory

/// A path from the program or the environment.
struct Program {
    let path: String

    /// Its name in messages.
    var shown: String { path.escapingControls() }

    /// Checks for mistakes: a path relative to the current folder, and a file or a folder above it that every user may
    /// change or replace. All of them must belong to root or the user. Write permission of a group is not checked.
    ///
    /// - Throws: `invalidParameter` for a path that is not absolute, `unavailable` if there is no such program,
    ///   `unsafeLocation`.
    func check() throws(KeychainError) {
        guard path.hasPrefix("/"), !path.utf8.contains(0) else {
            throw KeychainError(
                .invalidParameter, "\"\(shown)\" is not the full path of a program. Begin it with \"/\".")
        }
        var status = stat()
        guard stat(path, &status) == 0 else { throw unavailable(String(cString: strerror(errno))) }
        guard status.st_mode & S_IFMT == S_IFREG, access(path, X_OK) == 0 else {
            throw unavailable("it is not a program that you may run")
        }
        guard status.st_mode & S_IWOTH == 0 else {
            throw KeychainError(
                .unsafeLocation, "Every user can change \(shown), which asks for secrets. Run: chmod o-w \(shown)")
        }
        if let flaw = PathSafety.flaw(of: path, checkingOwners: true) { throw unsafe(flaw) }
    }

    private func unsafe(_ flaw: PathSafety.Flaw) -> KeychainError {
        let cause =
            switch flaw {
            case .changedByAll(let folder):
                "every user can change its folder '\(folder.escapingControls())'. Run: chmod o-w '\(folder.escapingControls())'"
            case .ofAnotherUser(let path, let owner):
                "'\(path.escapingControls())' belongs to user \(owner), who can replace it. Use a program that belongs to root or to you."
            case .unknownFolder:
                "its path is relative to the current folder, which has no path. Give the full path."
            }
        return KeychainError(.unsafeLocation, "\(shown) was not run to ask for secrets: \(cause)")
    }

    func unavailable(_ cause: String) -> KeychainError {
        KeychainError(.unavailable, "\(shown) cannot ask for the secret: \(cause).")
    }
}
