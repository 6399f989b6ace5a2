// SPDX-License-Identifier: Apache-2.0
// Whether another user can replace a part of a path.

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Checks every folder and symbolic link on the way to a file.
///
/// A user who may write to a folder may rename its entries, unless the folder is sticky: then only the owner of the
/// entry and the owner of the folder may. Write permission of a folder's group is not checked, because groups are the
/// administrator's choice.
package struct PathSafety {
    /// A part of the path that another user can change.
    package enum Flaw: Equatable {
        /// A folder that every user may write to, and that is not sticky.
        case changedByAll(folder: String)
        /// An entry that belongs neither to root nor to the user, if its owner can replace it.
        case ofAnotherUser(path: String, owner: UInt32)
        /// The path is relative to the working folder, and that has no path: it was removed, or is outside the root folder.
        case unknownFolder
    }

    private static let mostLinks = 40
    private static let slash = CChar(UInt8(ascii: "/"))
    private static let dot = CChar(UInt8(ascii: "."))

    private let checksOwners: Bool
    /// The path without links; empty for the root folder. Bytes, because the target of a link need not be UTF-8.
    private var current: [CChar] = []
    private var rest: [ArraySlice<CChar>]
    private var links = 0

    /// - Parameter checksOwners: Whether every folder and the file must belong to root or to the user. Otherwise only
    ///   entries of sticky folders that every user may write to are checked.
    /// - Returns: `nil` if there is no flaw on the way to the file, or to the first part that does not exist.
    package static func flaw(of path: String, checkingOwners checksOwners: Bool) -> Flaw? {
        var bytes = path.utf8CString.dropLast()
        if bytes.first != slash {
            guard let folder = workingFolder else { return .unknownFolder }
            bytes = folder + [slash] + bytes
        }
        var walk = PathSafety(bytes, checksOwners)
        return walk.run()
    }

    private static var workingFolder: ArraySlice<CChar>? {
        guard let path = getcwd(nil, 0) else { return nil }
        defer { free(path) }
        return Array(UnsafeBufferPointer(start: path, count: strlen(path)))[...]
    }

    private init(_ path: ArraySlice<CChar>, _ checksOwners: Bool) {
        self.checksOwners = checksOwners
        rest = Self.parts(path)
    }

    private static func parts(_ path: ArraySlice<CChar>) -> [ArraySlice<CChar>] {
        path.split(separator: slash).filter { $0 != [dot] }.reversed()
    }

    private mutating func run() -> Flaw? {
        guard var folder = Self.status([Self.slash]) else { return nil }
        while let part = rest.popLast() {
            if part == [Self.dot, Self.dot] {
                current = Array(current[..<(current.lastIndex(of: Self.slash) ?? 0)])
                guard let above = Self.status(current + [Self.slash]) else { return nil }
                folder = above
                continue
            }
            let entry = current + [Self.slash] + part
            guard let status = Self.status(entry) else { return nil }
            if let flaw = flaw(in: folder, entry, status) { return flaw }
            if status.st_mode & S_IFMT == S_IFLNK {
                guard follow(entry), let from = Self.status(current + [Self.slash]) else { return nil }
                folder = from
            } else {
                (current, folder) = (entry, status)
            }
        }
        return nil
    }

    private func flaw(in folder: stat, _ entry: [CChar], _ status: stat) -> Flaw? {
        let isShared = folder.st_mode & S_IWOTH != 0
        if isShared, folder.st_mode & S_ISVTX == 0 { return .changedByAll(folder: Self.shown(current)) }
        let isLink = status.st_mode & S_IFMT == S_IFLNK
        guard isShared || checksOwners && !isLink, !Self.isTrusted(status.st_uid) else { return nil }
        return .ofAnotherUser(path: Self.shown(entry), owner: status.st_uid)
    }

    private mutating func follow(_ link: [CChar]) -> Bool {
        links += 1
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(link + [0], &bytes, bytes.count)
        guard links <= Self.mostLinks, count > 0, count < bytes.count else { return false }
        if bytes[0] == Self.slash { current = [] }
        rest += Self.parts(bytes.prefix(count))
        return true
    }

    private static func status(_ path: [CChar]) -> stat? {
        var status = stat()
        return lstat(path + [0], &status) == 0 ? status : nil
    }

    private static func shown(_ path: [CChar]) -> String {
        path.isEmpty ? "/" : String(decoding: path.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// In a user namespace all unmapped owners look the same, including root outside it.
    private static func isTrusted(_ owner: uid_t) -> Bool {
        owner == 0 || owner == geteuid() || owner == 65534 && hasUnmappedUsers
    }

    private static let hasUnmappedUsers: Bool = {
        let descriptor = open("/proc/self/uid_map", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = bytes.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
        let words = bytes.prefix(max(0, count)).split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }
        return words.map { String(decoding: $0, as: UTF8.self) } != ["0", "0", "4294967295"]
    }()
}
