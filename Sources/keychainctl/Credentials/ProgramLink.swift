// SPDX-License-Identifier: Apache-2.0
// The links through which docker and ssh start this program: they cannot pass arguments of their own.

import Foundation
import KeychainKit
import SecretMemory

struct ProgramLink {
    let path: String
    let program: String

    /// A link in the folder of the user's own programs.
    init(_ name: CalledName, to program: String) throws(KeychainError) {
        guard let home = ProcessEnvironment.current.homeFolder else {
            throw KeychainError(.unavailable, "There is no home folder for the link '\(name.rawValue)'. Set HOME.")
        }
        path = home + "/.local/bin/" + name.rawValue
        self.program = program
    }

    /// Where the shell finds a program of this name that is this one; `nil` if there is none.
    static func found(_ name: CalledName, _ program: String) -> String? {
        let folders = (ProcessEnvironment.current.value("PATH") ?? "").split(separator: ":").map(String.init)
        guard let first = folders.map({ $0 + "/" + name.rawValue }).first(where: { access($0, X_OK) == 0 }) else {
            return nil
        }
        return ConfigurationFile(first).path == ConfigurationFile(program).path ? first : nil
    }

    /// Whether the user's shell looks into the folder.
    var isOnPath: Bool {
        let folder = path.split(separator: "/").dropLast()
        return (ProcessEnvironment.current.value("PATH") ?? "").split(separator: ":").contains {
            $0.hasPrefix("/") && $0.split(separator: "/").elementsEqual(folder)
        }
    }

    var leadsHere: Bool { target == program }

    /// Whether `make` has made it, also if the program was somewhere else then.
    var isOwn: Bool { target?.split(separator: "/").last == "keychainctl" }

    private var target: String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlink(path, &bytes, bytes.count)
        guard length > 0 else { return nil }
        return String(decoding: bytes.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// - Throws: `duplicateItem` if something else has the name.
    func check() throws(KeychainError) {
        var status = stat()
        guard lstat(path, &status) != 0 || isOwn else {
            throw KeychainError(
                .duplicateItem,
                "'\(path)' is not a link to this program. Nothing was changed. Move it away, and try again.")
        }
    }

    func make() throws(KeychainError) {
        if leadsHere { return }
        try check()
        do {
            let folder = path.split(separator: "/").dropLast().joined(separator: "/")
            try FileManager.default.createPrivateFolder("/" + folder)
        } catch {
            throw KeychainError(.unavailable, "The folder of '\(path)' cannot be created. Check its permissions.")
        }
        // A link to an older place of the program.
        if isOwn { unlink(path) }
        guard symlink(program, path) == 0 else {
            throw KeychainError(
                .unavailable, "The link '\(path)' cannot be made: \(String(cString: strerror(errno))).")
        }
    }

    /// Removes the link, if it is one to this program.
    func remove() throws(KeychainError) {
        guard isOwn else { return }
        guard unlink(path) == 0 || errno == ENOENT else {
            throw KeychainError(
                .unavailable, "The link '\(path)' cannot be removed: \(String(cString: strerror(errno))).")
        }
    }
}
