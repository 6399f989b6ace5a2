// SPDX-License-Identifier: Apache-2.0
// The entry of the credential helper in the user's git configuration. git itself reads and changes the file.

import Foundation
import KeychainKit
import SecretMemory

struct GitConfiguration {
    static let key = "credential.helper"
    private static let operation = " git-credential"
    static let mostOutput = 1 << 20

    /// The helpers of the user, in the order in which git asks them.
    static func helpers() throws(KeychainError) -> [String] {
        try checkFiles()
        let run = try ProgramOutput("git", ["config", "--global", "--null", "--get-all", key], limit: mostOutput)
        // 1: there are none, or there is no file.
        guard run.code == 0 || run.code == 1 else { throw failure(run.code) }
        return run.bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The command for this program. git runs a full path as it is, and gives anything after "!" to a shell.
    static func command(_ program: String) -> String {
        let isPlain = program.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"): true
            default: "/._-+".utf8.contains(byte)
            }
        }
        guard !isPlain else { return program + operation }
        let quoted = program.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
        return "!'" + quoted + "'" + operation
    }

    /// Whether a helper is what `add` wrote, also if the program was somewhere else then.
    static func isOwn(_ helper: String) -> Bool {
        guard helper.hasSuffix(operation), helper.hasPrefix("/") || helper.hasPrefix("!'/") else { return false }
        let program = helper.dropLast(operation.utf8.count)
        return program.hasSuffix("/keychainctl") || program.hasSuffix("/keychainctl'")
    }

    static func add(_ helper: String) throws(KeychainError) {
        try change(["--add", key, helper])
    }

    static func remove(_ helper: String) throws(KeychainError) {
        try change(["--fixed-value", "--unset-all", key, helper])
    }

    private static func change(_ words: [String]) throws(KeychainError) {
        try checkFiles()
        let code = try ProgramOutput("git", ["config", "--global"] + words, limit: mostOutput).code
        guard code == 0 else { throw failure(code) }
    }

    /// git would wait for ever for a FIFO, and put a file in the place of a device.
    ///
    /// - Throws: `unsafeLocation` if the configuration is something else than a file.
    private static func checkFiles() throws(KeychainError) {
        for path in files {
            var status = stat()
            guard stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG else {
                let isNamed = ProcessEnvironment.current.value("GIT_CONFIG_GLOBAL") != nil
                let advice =
                    isNamed
                    ? "Unset GIT_CONFIG_GLOBAL, or let it name a file." : "Remove it, or put a file in its place."
                throw KeychainError(
                    .unsafeLocation,
                    "'\(path)', your global git configuration, is not a file; nothing was changed. \(advice)")
            }
        }
    }

    /// The files that git may read and change. Of the last two it takes the one that exists.
    private static var files: [String] {
        let environment = ProcessEnvironment.current
        if let path = environment.value("GIT_CONFIG_GLOBAL") { return [path] }
        let home = environment.value("HOME")
        let folder = environment.value("XDG_CONFIG_HOME") ?? home.map { $0 + "/.config" }
        return [home.map { $0 + "/.gitconfig" }, folder.map { $0 + "/git/config" }].compactMap(\.self)
    }

    private static func failure(_ code: Int32) -> KeychainError {
        KeychainError(.inputOutput, "git config failed with exit code \(code); its message is above.")
    }
}
