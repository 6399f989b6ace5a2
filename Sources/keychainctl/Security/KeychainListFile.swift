// SPDX-License-Identifier: Apache-2.0
// The private file with the list of keychains. Each change is one atomic step, also between processes.

import Foundation
import KeychainAuthenticators
import KeychainKit
import SecretMemory

enum KeychainListFile {
    private static let name = "security.json"
    private static let limit = 1 << 20

    static func read() throws(KeychainError) -> KeychainList { try read(folder()) }

    /// Changes the list. Another process waits until this is done.
    ///
    /// - Throws: `busy` if another process does not end.
    static func change<Result>(
        _ body: (inout KeychainList) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        let folder = try folder()
        try SudoCaller.check([folder])
        try create(folder)
        let lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard lock >= 0 else { throw failure("open", folder) }
        defer { close(lock) }
        try take(lock, folder)
        var list = try read(folder)
        let result = try body(&list)
        try write(list, folder, lock)
        return result
    }

    /// Other processes have it for a moment, or while they remove the items of a keychain. One that is stopped must not keep this one for ever.
    ///
    /// - Throws: `busy` after five seconds.
    private static func take(_ lock: Int32, _ folder: String) throws(KeychainError) {
        for _ in 0..<100 {
            if flock(lock, LOCK_EX | LOCK_NB) == 0 { return }
            guard errno == EWOULDBLOCK || errno == EINTR else { throw failure("lock", folder) }
            usleep(50_000)
        }
        throw KeychainError(
            .busy,
            "Another program has locked '\(folder)' for five seconds. The list of keychains was not changed. Try again."
        )
    }

    // MARK: - Reading

    private static func read(_ folder: String) throws(KeychainError) -> KeychainList {
        let path = folder + "/" + name
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return KeychainList() }
            throw failure("open", path)
        }
        defer { close(file) }
        try check(file, path)
        do {
            return try JSONDecoder().decode(KeychainList.self, fromAny: try bytes(file, path))
        } catch let error as KeychainError {
            throw error
        } catch {
            throw KeychainError(
                .corrupt, "The list of keychains in '\(path)' is damaged. Remove the file; the items stay in the vault."
            )
        }
    }

    /// Another user could otherwise choose where values are stored.
    private static func check(_ file: Int32, _ path: String) throws(KeychainError) {
        var status = stat()
        guard fstat(file, &status) == 0 else { throw failure("read", path) }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(), status.st_mode & 0o022 == 0 else {
            throw KeychainError(
                .unsafeLocation,
                "The list of keychains in '\(path)' is not a file of yours that only you can write. Check it, then run: "
                    + "chmod 600 '\(path)'")
        }
    }

    private static func bytes(_ file: Int32, _ path: String) throws(KeychainError) -> Data {
        var content = Data()
        var chunk = [UInt8](repeating: 0, count: 1 << 14)
        while true {
            let count = Foundation.read(file, &chunk, chunk.count)
            if count == 0 { return content }
            if count > 0 {
                content.append(contentsOf: chunk[..<count])
            } else if errno != EINTR {
                throw failure("read", path)
            }
            guard content.count <= limit else {
                throw KeychainError(.corrupt, "The list of keychains in '\(path)' is too long. Remove the file.")
            }
        }
    }

    // MARK: - Writing

    private static func write(_ list: KeychainList, _ folder: String, _ directory: Int32) throws(KeychainError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let content = try? encoder.encode(list), content.count <= limit else {
            throw KeychainError(.tooLarge, "The list of keychains is too long; nothing was changed.")
        }
        // The lock admits one writer, so an existing file of this name is from one that was killed.
        let (path, temporary) = (folder + "/" + name, folder + "/." + name + ".new")
        unlink(temporary)
        let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw failure("write", path) }
        defer { close(file) }
        // A strict umask would leave a file that its owner cannot read.
        guard fchmod(file, 0o600) == 0, writeAll(content, file), fsync(file) == 0, rename(temporary, path) == 0 else {
            let failure = failure("write", path)
            unlink(temporary)
            throw failure
        }
        guard fsync(directory) == 0 else { throw failure("write", path) }
    }

    private static func writeAll(_ content: Data, _ file: Int32) -> Bool {
        var rest = content[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(file, $0.baseAddress, $0.count) }
            if count > 0 { rest = rest.dropFirst(count) } else if count == 0 || errno != EINTR { return false }
        }
        return true
    }

    // MARK: - The folder

    private static func folder() throws(KeychainError) -> String {
        if let base = ProcessEnvironment.current.configurationFolder { return base + "/swift-keychain" }
        throw KeychainError(.unavailable, "Neither XDG_CONFIG_HOME nor HOME names a folder. Set one of them.")
    }

    private static func create(_ folder: String) throws(KeychainError) {
        var path = ""
        for part in folder.split(separator: "/") {
            path += "/" + part
            guard mkdir(path, 0o700) == 0 else {
                let code = errno
                if code == EEXIST || access(path, F_OK) == 0 { continue }
                errno = code
                throw failure("create", path)
            }
            guard chmod(path, 0o700) == 0 else { throw failure("create", path) }
        }
    }

    private static func failure(_ verb: String, _ path: String) -> KeychainError {
        let reason = String(cString: strerror(errno))
        let kind: KeychainError.Reason = errno == ENOSPC || errno == EDQUOT ? .diskFull : .inputOutput
        return KeychainError(kind, "Could not \(verb) '\(path)': \(reason).")
    }
}
