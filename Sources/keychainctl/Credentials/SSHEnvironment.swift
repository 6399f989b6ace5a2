// SPDX-License-Identifier: Apache-2.0
// The variables that let ssh ask this program, as a file in environment.d.

import Foundation
import KeychainKit
import SecretMemory

struct SSHEnvironment {
    private static let header = "# Written by: keychainctl helper install ssh\n"

    let file: ConfigurationFile
    let link: ProgramLink

    init(_ program: String) throws(KeychainError) {
        guard let folder = ProcessEnvironment.current.configurationFolder else {
            throw KeychainError(.unavailable, "There is no home folder for the variables of ssh. Set HOME.")
        }
        file = ConfigurationFile(folder + "/environment.d/60-keychain-askpass.conf")
        link = try ProgramLink(.askpass, to: program)
    }

    /// Without "force", ssh asks an askpass program only if there is no terminal, or a graphical session.
    private var variables: [(name: String, value: String)] {
        [("SSH_ASKPASS", link.path), ("SSH_ASKPASS_REQUIRE", "force")]
    }

    var text: String { Self.header + variables.map { "\($0.name)=\($0.value)\n" }.joined() }

    /// The lines for the profile of a shell.
    var exports: String {
        variables.map { name, value in
            "  export \(name)='\(value.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''"))'"
        }.joined(separator: "\n")
    }

    /// - Returns: What the file contains; `nil` if there is none.
    /// - Throws: `duplicateItem` if it is a file of somebody else.
    func checked() throws(KeychainError) -> [UInt8]? {
        let found = try file.read()
        guard found.map({ $0.starts(with: Self.header.utf8) }) ?? true else {
            throw KeychainError(
                .duplicateItem,
                "'\(file.path)' was not written by this program. Nothing was changed. Move it away, and try again.")
        }
        // systemd would read a line break as the next variable, and a dollar sign as one.
        guard link.path.utf8.allSatisfy({ $0 > 0x20 && !"\\\"'$".utf8.contains($0) }) else {
            throw KeychainError(
                .unsupported, "The path '\(link.path)' cannot be written to environment.d. Set the variables yourself.")
        }
        return found
    }
}
