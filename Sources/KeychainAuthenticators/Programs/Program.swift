// SPDX-License-Identifier: Apache-2.0
// The program that a person's secret is entrusted to.

import Foundation
import KeychainEngine

/// A path that was given by the program or the environment.
struct Program {
    let path: String

    /// Its name in messages.
    var shown: String { path.escapingControls() }

    /// What a mistake looks like: a name that depends on the current folder, a file that everybody may change. Owner and
    /// folders are not checked: whoever names the program is trusted, and in a container all belongs to nobody.
    ///
    /// - Throws: `invalidParameter` for a path that is not absolute, `unavailable` if there is nothing to run, `unsafeLocation`.
    func check() throws(KeychainError) {
        guard path.hasPrefix("/"), !path.contains("\0") else {
            throw KeychainError(
                .invalidParameter, "\"\(shown)\" is not the full path of a program. Begin it with \"/\".")
        }
        var status = stat()
        guard stat(path, &status) == 0 else { throw unavailable(String(cString: strerror(errno))) }
        guard status.st_mode & S_IFMT == S_IFREG, access(path, X_OK) == 0 else {
            throw unavailable("It is not a program that you may run")
        }
        guard status.st_mode & S_IWOTH == 0 else {
            throw KeychainError(
                .unsafeLocation, "Everybody may change \(shown), which asks for secrets. Run: chmod o-w \(shown)")
        }
    }

    func unavailable(_ cause: String) -> KeychainError {
        KeychainError(.unavailable, "\(shown), which is to ask for the secret, cannot: \(cause).")
    }
}
