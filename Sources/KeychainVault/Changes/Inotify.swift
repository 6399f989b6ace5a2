// SPDX-License-Identifier: Apache-2.0
// The kernel's news of what happens in folders.

#if os(Linux)
    import Foundation
    import KeychainEngine

    /// One inotify descriptor. It is not closed by itself, and of use only to the process that made it.
    struct Inotify: Sendable {
        /// Something that happened to a watched folder or to a name in it.
        struct Event: Equatable, Sendable {
            /// Which watch; -1 if the kernel has dropped events.
            let watch: Int32
            let mask: UInt32
            /// The name in the folder as bytes; empty if it is about the folder itself.
            let name: [UInt8]

            func isAny(of wanted: Int32) -> Bool { mask & UInt32(bitPattern: wanted) != 0 }
        }

        /// What came of watching a folder.
        enum Watch: Equatable, Sendable {
            case number(Int32)
            /// There is no folder at the path.
            case absent
            /// There may be one, and this process may not look into it.
            case forbidden
        }

        let descriptor: Int32

        /// - Parameter path: What is to be watched, for messages.
        init(_ path: String) throws(KeychainError) {
            descriptor = inotify_init1(O_CLOEXEC | O_NONBLOCK)
            guard descriptor >= 0 else { throw Self.failure(path, errno) }
        }

        /// Watches a folder for these events in place of those of before.
        ///
        /// - Throws: `unavailable` if the kernel gives no more watches.
        func watch(_ path: String, _ events: Int32) throws(KeychainError) -> Watch {
            let number = inotify_add_watch(descriptor, path, UInt32(bitPattern: events | IN_ONLYDIR))
            guard number < 0 else { return .number(number) }
            switch errno {
            case ENOENT, ENOTDIR, ELOOP: return .absent
            case EACCES: return .forbidden
            default: throw Self.failure(path, errno)
            }
        }

        func unwatch(_ number: Int32) { inotify_rm_watch(descriptor, number) }

        /// What has happened since this was last asked, as far as it fits 16 KiB; the descriptor stays readable for the rest.
        func events() -> [Event] {
            var buffer = [UInt8](repeating: 0, count: 16384)
            let count = read(descriptor, &buffer, buffer.count)
            return Self.events(in: buffer.prefix(max(0, count)))
        }

        /// number (4), mask (4), cookie (4), length of the name (4), name with zeros behind it; all in the machine's order.
        static func events(in bytes: ArraySlice<UInt8>) -> [Event] {
            var (events, rest): ([Event], ArraySlice<UInt8>) = ([], bytes)
            while let number = integer(rest, 0), let mask = integer(rest, 4), let length = integer(rest, 12) {
                let name = rest.dropFirst(16).prefix(Int(length))
                guard name.count == Int(length) else { break }
                events.append(
                    Event(watch: Int32(bitPattern: number), mask: mask, name: Array(name.prefix { $0 != 0 })))
                rest = rest.dropFirst(16 + name.count)
            }
            return events
        }

        private static func integer(_ bytes: ArraySlice<UInt8>, _ offset: Int) -> UInt32? {
            let four = bytes.dropFirst(offset).prefix(4)
            guard four.count == 4 else { return nil }
            // What the bytes say if the first is the highest; `bigEndian` turns it round where it is not.
            return four.reduce(0) { $0 << 8 | UInt32($1) }.bigEndian
        }

        static func failure(_ path: String, _ code: Int32) -> KeychainError {
            let text = "Could not watch '\(path)' for changes: \(String(cString: strerror(code)))."
            return switch code {
            case EMFILE, ENFILE:
                KeychainError(
                    .unavailable,
                    text + " End programs that watch files, raise fs.inotify.max_user_instances (sysctl), or, if it "
                        + "is this process that has too many files open, its limit (ulimit -n).")
            case ENOSPC:
                KeychainError(
                    .unavailable,
                    text + " All watches of this user are taken: end programs that watch files, or raise "
                        + "fs.inotify.max_user_watches (sysctl).")
            default: KeychainError(.unavailable, text)
            }
        }
    }
#endif
