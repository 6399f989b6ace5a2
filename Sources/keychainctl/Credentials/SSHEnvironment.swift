// SPDX-License-Identifier: Apache-2.0
// The variables that let ssh ask this program, as a file in environment.d.

import Foundation
import KeychainKit
import SecretMemory

struct SSHEnvironment {
    private static let header = "# Written by: keychainctl helper install ssh"

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

    private var lines: [String] { [Self.header] + variables.map { "\($0.name)=\($0.value)" } }

    /// The lines of this program.
    var text: String { lines.map { $0 + "\n" }.joined() }

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
        guard found.map({ Self.lines($0).contains { $0.elementsEqual(Self.header.utf8) } }) ?? true else {
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

// MARK: - Lines of the user

extension SSHEnvironment {
    /// The file with the lines of this program, where earlier ones are. Lines that the user added stay.
    func added(to found: [UInt8]?) -> [UInt8] {
        guard let found else { return Array(text.utf8) }
        let present = Self.lines(found)
        let place = present.firstIndex(where: isOwn) ?? 0
        let rest = present[place...].filter { !isOwn($0) }
        return Self.joined(present[..<place] + lines.map { Array($0.utf8)[...] } + rest)
    }

    /// The file without the lines of this program; `nil` if only empty lines remain.
    func removed(from found: [UInt8]) -> [UInt8]? {
        let rest = Self.lines(found).filter { !isOwn($0) }
        return rest.contains { !$0.allSatisfy { $0 <= 0x20 } } ? Self.joined(rest) : nil
    }

    /// Whether this program has written the line, also if the home folder was another one then.
    private func isOwn(_ line: ArraySlice<UInt8>) -> Bool {
        if lines.contains(where: { line.elementsEqual($0.utf8) }) { return true }
        let name = link.path.utf8.split(separator: UInt8(ascii: "/")).last.map(Array.init) ?? []
        return line.starts(with: "SSH_ASKPASS=/".utf8)
            && line.split(separator: UInt8(ascii: "/")).last.map(Array.init) == name
    }

    /// As bytes, since it need not be UTF-8. After a final newline there is an empty one.
    private static func lines(_ text: [UInt8]) -> [ArraySlice<UInt8>] {
        text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    }

    private static func joined(_ lines: [ArraySlice<UInt8>]) -> [UInt8] {
        let text = Array(lines.joined(separator: [UInt8(ascii: "\n")]))
        return text.last == UInt8(ascii: "\n") ? text : text + [UInt8(ascii: "\n")]
    }
}
