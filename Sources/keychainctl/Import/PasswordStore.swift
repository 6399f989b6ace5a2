// SPDX-License-Identifier: Apache-2.0
// The folder of pass, and of gopass with gpg: one encrypted file for each entry.

import Foundation
import KeychainKit

/// Entries are found without following symbolic links, and each opened file is decrypted by gpg from standard input: no
/// name in the store reaches a command line, and nothing outside of the store is read.
struct PasswordStore {
    let path: String
    /// Whether the whole text of an entry is one value. Otherwise the first line is the password, and the rest is an
    /// item of its own.
    let keepsWhole: Bool
    private var records: [ImportRecord] = []

    private static let deepest = 32

    init(path: String, keepsWhole: Bool) { (self.path, self.keepsWhole) = (path, keepsWhole) }

    static func records(at path: String, keepsWhole: Bool) throws(KeychainError) -> [ImportRecord] {
        var store = PasswordStore(path: path, keepsWhole: keepsWhole)
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw store.failure(errno) }
        try store.readFolder(descriptor, [])
        return store.records
    }

    // MARK: - Folders

    /// Closes the descriptor.
    private mutating func readFolder(_ descriptor: Int32, _ folders: [String]) throws(KeychainError) {
        let folder = try opened(descriptor, folders)
        defer { closedir(folder) }
        for name in try names(folder, folders) { try readEntry(name, in: dirfd(folder), folders) }
    }

    /// - Throws: If there is no stream for the descriptor, which is closed then.
    private func opened(_ descriptor: Int32, _ folders: [String]) throws(KeychainError) -> OpaquePointer {
        if let folder = fdopendir(descriptor) { return folder }
        let code = errno
        close(descriptor)
        throw failure(code, folders)
    }

    /// Whether a hidden file belongs to pass, gopass, git or another program. An entry may have a name that begins with a dot, too.
    private static func isOfPrograms(_ name: [UInt8]) -> Bool {
        let folders = [".", "..", ".git", ".public-keys", ".gpg-keys", ".extensions", ".stfolder", ".stversions"]
        return folders.contains { name.elementsEqual($0.utf8) }
    }

    /// Sorted, so that two runs do the same. A name that is not text is reported instead.
    private mutating func names(_ folder: OpaquePointer, _ folders: [String]) throws(KeychainError) -> [String] {
        var names: [[UInt8]] = []
        while true {
            errno = 0
            guard let entry = readdir(folder) else { break }
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                Array(
                    UnsafeRawBufferPointer(
                        start: $0, count: strlen(UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))))
            }
            if !Self.isOfPrograms(name) { names.append(name) }
            guard names.count <= ImportLimits.entries else { throw .tooManyEntries }
        }
        guard errno == 0 else { throw failure(errno, folders) }
        return names.sorted { $0.lexicographicallyPrecedes($1) }.compactMap { bytes in
            let name = String(validating: bytes, as: UTF8.self)
            if name == nil { skip(folders.joined(separator: "/"), "the name of a file in it is not text") }
            return name
        }
    }

    /// Whether there is a hidden folder of this name with a `.gpg` file in it, or in a folder of it. What cannot be read of it is
    /// reported, since there may be some in there.
    private mutating func holdsEntries(
        _ name: String, in folder: Int32, _ folders: [String]
    ) throws(KeychainError) -> Bool {
        let own = folders + [name]
        let descriptor = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_DIRECTORY)
        guard descriptor >= 0 else {
            let code = errno
            if [ENOTDIR, ELOOP].contains(code), Self.isLinkToAFolder(name, in: folder) {
                skip(own.joined(separator: "/"), "it is a symbolic link")
            }
            // A file is no folder, and what was removed meanwhile has no entries.
            let isNone = [ENOTDIR, ELOOP, ENOENT].contains(code)
            if !isNone { skip(own.joined(separator: "/"), String(cString: strerror(code))) }
            return false
        }
        let stream = try opened(descriptor, own)
        defer { closedir(stream) }
        guard own.count <= Self.deepest else {
            skip(own.joined(separator: "/"), Self.isTooDeep)
            return false
        }
        let inside: [String]
        do throws(KeychainError) {
            inside = try names(stream, own)
        } catch {
            guard error.reason == .tooLarge else { throw error }
            skip(own.joined(separator: "/"), "it has too many files")
            return false
        }
        for name in inside {
            if name.hasSuffix(".gpg") { return true }
            if try holdsEntries(name, in: dirfd(stream), own) { return true }
        }
        return false
    }

    private static func isLinkToAFolder(_ name: String, in folder: Int32) -> Bool {
        var (link, target) = (stat(), stat())
        return fstatat(folder, name, &link, AT_SYMLINK_NOFOLLOW) == 0 && link.st_mode & S_IFMT == S_IFLNK
            && fstatat(folder, name, &target, 0) == 0 && target.st_mode & S_IFMT == S_IFDIR
    }

    private static let isTooDeep = "it is nested more than \(deepest) levels deep"

    private mutating func readEntry(_ name: String, in folder: Int32, _ folders: [String]) throws(KeychainError) {
        let shown = (folders + [name]).joined(separator: "/")
        let isHidden = name.hasPrefix(".") && !name.hasSuffix(".gpg")
        if isHidden {
            if try holdsEntries(name, in: folder, folders) {
                skip(shown, "it is a hidden folder; entries in it are not imported")
            }
            return
        }
        let descriptor = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else {
            let code = errno
            return skip(shown, code == ELOOP ? "it is a symbolic link" : String(cString: strerror(code)))
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            let code = errno
            close(descriptor)
            throw failure(code, folders + [name])
        }
        switch status.st_mode & S_IFMT {
        case S_IFDIR where folders.count < Self.deepest: try readFolder(descriptor, folders + [name])
        case S_IFREG:
            defer { close(descriptor) }
            try readFile(descriptor, name, folders, size: Int(status.st_size))
        default:
            close(descriptor)
            skip(shown, "it is neither a file nor a folder, or \(Self.isTooDeep)")
        }
        guard records.count <= ImportLimits.entries else { throw .tooManyEntries }
    }

    private mutating func skip(_ name: String, _ reason: String) {
        records.append(ImportRecord(skipping: nil, reason, origin: name))
    }

    // MARK: - Entries

    private mutating func readFile(
        _ descriptor: Int32, _ file: String, _ folders: [String], size: Int
    ) throws(KeychainError) {
        let shown = (folders + [file]).joined(separator: "/")
        guard file.hasSuffix(".gpg") else {
            let isAge = file.hasSuffix(".age")
            return skip(shown, isAge ? "it is encrypted with age, which is not read" : "it is not a .gpg file")
        }
        guard size <= 2 * ImportLimits.field else { return skip(shown, "it is larger than 2 MiB") }
        let name = (folders + [String(file.dropLast(4))]).joined(separator: "/")
        do throws(KeychainError) {
            var output = try ProgramOutput(
                "gpg", ["--quiet", "--batch", "--yes", "--decrypt"], input: descriptor, limit: ImportLimits.field)
            defer { output.bytes.wipe() }
            guard output.code == 0 else { return skip(name, "gpg could not decrypt it") }
            guard !output.bytes.starts(with: "GOPASS-SECRET-1.0".utf8) else {
                return skip(name, "it has an old format of gopass; convert it with: gopass fsck --decrypt")
            }
            add(name, output.bytes, folders, String(file.dropLast(4)))
        } catch {
            guard error.reason == .tooLarge else { throw error }
            skip(name, "it is longer than 1 MiB")
        }
    }

    /// The last folder names are the service, the file is the account. An entry outside of all folders is a service
    /// without account.
    private mutating func add(_ name: String, _ text: Data, _ folders: [String], _ file: String) {
        let service = folders.isEmpty ? file : folders.joined(separator: "/")
        var login = ImportedLogin(origin: name)
        login.title = service
        login.account = folders.isEmpty ? "" : file
        let end = text.firstIndex(of: UInt8(ascii: "\n")) ?? text.endIndex
        if keepsWhole {
            login.password = Data(Array(text))
        } else {
            login.password = Data(Array(text[..<end]))
            var rest = text[end...].dropFirst()
            if let line = Self.otpauthLine(rest) {
                login.add("one-time password", Data(Array(rest[line])))
                rest = rest[..<line.lowerBound] + rest[line.upperBound...].dropFirst()
            }
            if rest.contains(where: { $0 > 0x20 }) { login.add("notes", Data(Array(rest))) }
        }
        records += login.records
    }

    /// The first line that is a secret for one-time codes, as pass-otp and gopass keep it.
    private static func otpauthLine(_ text: Data) -> Range<Data.Index>? {
        var start = text.startIndex
        while start < text.endIndex {
            let end = text[start...].firstIndex(of: UInt8(ascii: "\n")) ?? text.endIndex
            if text[start..<end].starts(with: "otpauth://".utf8) { return start..<end }
            start = min(end + 1, text.endIndex)
        }
        return nil
    }

    /// - Parameter names: Those that lead from the store to what could not be read.
    private func failure(_ code: Int32, _ names: [String] = []) -> KeychainError {
        let place = names.isEmpty ? "" : " at '\(names.joined(separator: "/"))'"
        return KeychainError(
            code == ENOENT || code == EACCES ? .unavailable : .inputOutput,
            "The password store '\(path)' could not be read\(place): \(String(cString: strerror(code))). "
                + "Nothing was imported.")
    }
}
