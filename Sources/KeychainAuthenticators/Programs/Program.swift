// SPDX-License-Identifier: Apache-2.0
// The program that a person's secret is entrusted to.

import Foundation
import KeychainEngine
import SecretMemory

/// A path that was given by the program or the environment.
struct Program {
    let path: String

    /// Its name in messages.
    var shown: String { path.escapingControls() }

    /// What a mistake looks like: a name that depends on the current folder, a file that everybody may change, or replace in one
    /// of the folders on the way to it. They have to belong to root or the user; writing through a group is not looked at.
    ///
    /// - Throws: `invalidParameter` for a path that is not absolute, `unavailable` if there is nothing to run, `unsafeLocation`.
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
            }
        return KeychainError(.unsafeLocation, "\(shown) was not run to ask for secrets: \(cause)")
    }

    func unavailable(_ cause: String) -> KeychainError {
        KeychainError(.unavailable, "\(shown) cannot ask for the secret: \(cause).")
    }
}
