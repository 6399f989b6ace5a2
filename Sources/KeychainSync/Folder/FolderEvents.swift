// SPDX-License-Identifier: Apache-2.0
// What the kernel tells of the folders of a ring.

import Dispatch
import Foundation
import KeychainVault
import SecretMemory

extension FolderEvents {
    /// What events tell of.
    struct News: OptionSet, Sendable {
        let rawValue: Int

        /// A file that may be an object was put into a watched folder.
        static let object = News(rawValue: 1)
        /// Anything else: folders have to be watched, or something is gone.
        static let other = News(rawValue: 2)
    }
}

#if os(Linux)
    /// Watched folders. An event says no more than that it may be useful to look.
    ///
    /// A folder that was removed has to be watched again when it is back.
    final class FolderEvents: Sendable {
        private static let events =
            IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE | IN_DELETE | IN_MOVED_FROM | IN_DELETE_SELF | IN_MOVE_SELF

        /// `nil` if the kernel gives no descriptor. Then, as where it gives no watches, somebody has to look from time to time.
        private let inotify: Inotify?
        private let source: Guarded<(any DispatchSourceRead)?>
        private let most: Int
        /// The one name that matters in each watched folder; `nil` if all do.
        private let names = Guarded<[Int32: String?]>([:])
        /// How many times a folder was watched that was not watched before.
        private let additions = Guarded(0)

        var additionCount: Int { additions.withLock { $0 } }

        /// - Parameters:
        ///   - most: How many folders are watched at most.
        ///   - own: The files of this process, of which nothing is told.
        ///   - tell: Called after events, on a queue that must not be blocked, with the marks of own files, one XORed with the other.
        init(most: Int, own: OwnFiles, tell: @escaping @Sendable (News, Int) -> Void) {
            self.most = most
            // Without it, every `watch` returns false, and the folder is looked at regularly.
            inotify = try? Inotify("the shared folder")
            source = Guarded(nil)
            guard let inotify else { return }
            let source = DispatchSource.makeReadSource(
                fileDescriptor: inotify.descriptor, queue: DispatchQueue(label: "swift-keychain.folder-events"))
            source.setEventHandler { [names] in
                let events = inotify.events()
                var (news, marks) = (News(), 0)
                names.withLock { names in
                    for event in events {
                        let new = Self.news(event, &names)
                        let mark = new == .object ? own.take(String(decoding: event.name, as: UTF8.self)) : nil
                        if let mark { marks ^= mark } else { news.formUnion(new) }
                    }
                }
                if !news.isEmpty || marks != 0 { tell(news, marks) }
            }
            source.setCancelHandler { close(inotify.descriptor) }
            source.activate()
            self.source.withLock { $0 = source }
        }

        deinit { source.withLock { $0?.cancel() } }

        /// Watches a folder, if it is not watched yet.
        ///
        /// - Parameters:
        ///   - name: The only name in it that matters.
        ///   - isLinked: Whether the path may be a link.
        /// - Returns: Whether the kernel will tell of changes. Of a folder that is not there, the events of its parent tell; the
        ///   shared folder, which has no watched parent, must be there.
        func watch(_ path: String, for name: String? = nil, linked isLinked: Bool = false) -> Bool {
            guard let inotify, names.withLock({ $0.count }) < most,
                let watch = try? inotify.watch(path, Self.events | (isLinked ? 0 : IN_DONT_FOLLOW))
            else { return false }
            guard case .number(let number) = watch else { return watch == .absent && !isLinked }
            let isNew = names.withLock { $0.updateValue(name, forKey: number) == nil }
            if isNew { additions.withLock { $0 += 1 } }
            return true
        }

        static func news(_ event: Inotify.Event, _ names: inout [Int32: String?]) -> News {
            guard matters(event, &names) else { return [] }
            let isPut = event.isAny(of: IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE) && !event.isAny(of: IN_ISDIR)
            return isPut && event.name.suffix(FileName.suffix.utf8.count).elementsEqual(FileName.suffix.utf8)
                ? .object : .other
        }

        static func matters(_ event: Inotify.Event, _ names: inout [Int32: String?]) -> Bool {
            if event.isAny(of: IN_IGNORED) {
                names[event.watch] = nil
                return true
            }
            if event.isAny(of: IN_Q_OVERFLOW | IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT) { return true }
            guard let only = names[event.watch] else { return false }
            // Hidden files are those that somebody is still writing.
            guard let only else { return event.name.first != UInt8(ascii: ".") }
            return event.name.elementsEqual(only.utf8)
        }

        /// Whether nothing in the folder can change without the kernel's knowledge: it is on a disk of this machine.
        static func tellsAll(of path: String) -> Bool {
            guard let resolved = realpath(path, nil),
                let mounts = FileManager.default.contents(atPath: "/proc/self/mountinfo")
            else { return false }
            defer { free(resolved) }
            return kind(of: String(cString: resolved), in: mounts).map(localKinds.contains) ?? false
        }

        private static let localKinds: Set = [
            "bcachefs", "btrfs", "exfat", "ext2", "ext3", "ext4", "f2fs", "jfs", "ntfs3", "overlay", "tmpfs", "vfat",
            "xfs", "zfs",
        ]

        /// The kind of file system at a path without links, by proc_pid_mountinfo(5): the fifth field of a line is the place of a
        /// mount, and its kind comes after a hyphen. Of several mounts at one place, the last one is on top.
        static func kind(of path: String, in mounts: Data) -> String? {
            var found: (length: Int, kind: String)?
            for line in mounts.split(separator: UInt8(ascii: "\n")) {
                let fields = line.split(separator: UInt8(ascii: " "))
                // A number of optional fields comes before the hyphen.
                guard let end = fields.dropFirst(6).firstIndex(where: { $0.elementsEqual("-".utf8) }),
                    end + 1 < fields.count
                else { continue }
                let place = unescaped(fields[4])
                let folder = place.last == UInt8(ascii: "/") ? place : place + [UInt8(ascii: "/")]
                guard (path + "/").utf8.starts(with: folder), folder.count >= found?.length ?? 0 else { continue }
                found = (folder.count, String(decoding: fields[end + 1], as: UTF8.self))
            }
            return found?.kind
        }

        /// Spaces and the like are written as a backslash and three octal digits.
        private static func unescaped(_ field: Data) -> [UInt8] {
            var (bytes, rest): ([UInt8], ArraySlice<UInt8>) = ([], Array(field)[...])
            while let byte = rest.popFirst() {
                let digits = String(decoding: rest.prefix(3), as: UTF8.self)
                if byte == UInt8(ascii: "\\"), digits.utf8.count == 3, let value = UInt8(digits, radix: 8) {
                    bytes.append(value)
                    rest.removeFirst(3)
                } else {
                    bytes.append(byte)
                }
            }
            return bytes
        }
    }
#else
    /// Nothing is told here.
    final class FolderEvents: Sendable {
        let additionCount = 0

        init(most: Int, own: OwnFiles, tell: @escaping @Sendable (News, Int) -> Void) {}

        func watch(_ path: String, for name: String? = nil, linked isLinked: Bool = false) -> Bool { false }

        static func tellsAll(of path: String) -> Bool { false }
    }
#endif
