// SPDX-License-Identifier: Apache-2.0
// The kernel's events for folders.

#if os(Linux)
    import Foundation
    package import KeychainEngine

    /// One inotify descriptor. It is not closed automatically, and only the process that created it can use it.
    package struct Inotify: Sendable {
        /// An event of a watched folder or of a name in it.
        package struct Event: Equatable, Sendable {
            /// The number of the watch; -1 if the kernel has dropped events.
            package let watch: Int32
            package let mask: UInt32
            /// The name in the folder as bytes; empty for the folder itself.
            package let name: [UInt8]

            package func isAny(of wanted: Int32) -> Bool { mask & UInt32(bitPattern: wanted) != 0 }
        }

        /// The result of watching a folder.
        package enum Watch: Equatable, Sendable {
            case number(Int32)
            /// There is no folder at the path.
            case absent
            /// There may be a folder, but this process has no permission to look.
            case forbidden
        }

        package let descriptor: Int32

        /// - Parameter path: The watched path, for messages.
        package init(_ path: String) throws(KeychainError) {
            descriptor = inotify_init1(O_CLOEXEC | O_NONBLOCK)
            guard descriptor >= 0 else { throw Self.failure(path, errno) }
        }

        /// Watches a folder for these events, replacing the previous ones.
        ///
        /// - Throws: `unavailable` if the kernel gives no more watches.
        package func watch(_ path: String, _ events: Int32) throws(KeychainError) -> Watch {
            let number = inotify_add_watch(descriptor, path, UInt32(bitPattern: events | IN_ONLYDIR))
            guard number < 0 else { return .number(number) }
            switch errno {
            case ENOENT, ENOTDIR, ELOOP: return .absent
            case EACCES: return .forbidden
            default: throw Self.failure(path, errno)
            }
        }

        func unwatch(_ number: Int32) { inotify_rm_watch(descriptor, number) }

        /// The events since the last call, up to 16 KiB; the descriptor stays readable if there are more.
        package func events() -> [Event] {
            var buffer = [UInt8](repeating: 0, count: 16384)
            let count = read(descriptor, &buffer, buffer.count)
            return Self.events(in: buffer.prefix(max(0, count)))
        }

        /// number (4), mask (4), cookie (4), length of the name (4), name padded with zeros; all in the machine's byte
        /// order.
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
            // Reads the bytes as big-endian; `bigEndian` swaps them on little-endian machines.
            return four.reduce(0) { $0 << 8 | UInt32($1) }.bigEndian
        }

        static func failure(_ path: String, _ code: Int32) -> KeychainError {
            let text = "Could not watch '\(path)' for changes: \(String(cString: strerror(code)))."
            return switch code {
            case EMFILE, ENFILE:
                KeychainError(
                    .unavailable,
                    text + " End programs that watch files, or raise fs.inotify.max_user_instances (sysctl). If "
                        + "this process has too many open files, raise its limit (ulimit -n).")
            case ENOSPC:
                KeychainError(
                    .unavailable,
                    text + " This user has no watches left. End programs that watch files, or raise "
                        + "fs.inotify.max_user_watches (sysctl).")
            default: KeychainError(.unavailable, text)
            }
        }
    }
#endif
