// SPDX-License-Identifier: Apache-2.0
// Watching a folder that may not exist yet, and may be removed and created again.

#if os(Linux)
    import Foundation
    import KeychainEngine

    /// The watches on a vault's folder and on its parents.
    ///
    /// While the vault exists, its parents are watched only for being moved or removed, so that other activity in a
    /// home folder causes no wake-ups. While it does not exist, the two lowest existing folders are watched for created
    /// and removed names: the lowest for the next folder on the path, its parent because the kernel reports no event
    /// for a removed folder in which a file is still open.
    struct FolderWatch {
        /// What events mean to an observer of the vault.
        enum News: Int, Comparable {
            case nothing
            /// Items, keybag or lock state may have changed.
            case change
            /// The files may have been replaced; the watches must be set again.
            case place

            static func < (left: News, right: News) -> Bool { left.rawValue < right.rawValue }
        }

        private static let itself = IN_MOVE_SELF | IN_DELETE_SELF
        private static let comings = IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_MOVED_FROM
        private static let entries = itself | comings
        private static let vault = entries | IN_CLOSE_WRITE | IN_DONT_FOLLOW

        private let inotify: Inotify
        private let lockFile: String
        /// From the root down to the vault's folder.
        private let folders: [String]
        /// The name that matters in each folder but the last.
        private let names: [[UInt8]]
        /// The positions on the path that each watch stands for. With links, one folder may be at several positions.
        private var places: [Int32: [Int]] = [:]

        init(_ inotify: Inotify, _ location: VaultLocation) {
            self.inotify = inotify
            lockFile = location.lockFile
            let parts = location.folder.utf8.split(separator: UInt8(ascii: "/"))
            names = parts.map(Array.init)
            folders = parts.indices.reduce(into: ["/"]) { folders, index in
                folders.append("/" + parts[...index].map { String(Substring($0)) }.joined(separator: "/"))
            }
        }

        // MARK: - Setting

        /// Watches the folders that exist now. No event after this returns is missed.
        ///
        /// - Throws: `unavailable` if the kernel gives no more watches, or the lowest folder that exists cannot be read.
        mutating func settle() throws(KeychainError) {
            let before = Set(places.keys)
            var tried: Set<Int32> = []
            defer { for number in before.union(tried).subtracting(places.keys) { inotify.unwatch(number) } }
            for _ in 0..<16 {
                let found = try watchedNow(&tried)
                guard let found else { continue }
                places = found
                return
            }
            throw KeychainError(.busy, "The folders above '\(lockFile)' keep changing. Try again.")
        }

        /// - Returns: `nil` if a folder was created, removed or replaced in the meantime.
        private func watchedNow(_ tried: inout Set<Int32>) throws(KeychainError) -> [Int32: [Int]]? {
            let found = try watchedDownwards(&tried)
            guard let lowest = found.indices.last else { return nil }
            if found[lowest] == .forbidden { throw Inotify.failure(folders[lowest], EACCES) }
            guard try watch(lowest, Self.entries, &tried) == found[lowest] else { return nil }
            if !isWhole(lowest), try !endsStill(found, &tried) { return nil }
            return found.enumerated().reduce(into: [:]) { places, watch in
                if case .number(let number) = watch.element { places[number, default: []].append(watch.offset) }
            }
        }

        /// Each folder is watched for being moved before the next one is examined.
        private func watchedDownwards(_ tried: inout Set<Int32>) throws(KeychainError) -> [Inotify.Watch] {
            var found: [Inotify.Watch] = []
            for place in folders.indices {
                let watch = try watch(place, Self.itself, &tried)
                guard watch != .absent else { break }
                found.append(watch)
            }
            return found
        }

        /// Whether the lowest folder is still in place, now that its removal would be noticed, and the next one still
        /// does not exist.
        private func endsStill(_ found: [Inotify.Watch], _ tried: inout Set<Int32>) throws(KeychainError) -> Bool {
            let lowest = found.count - 1
            if lowest > 0 { _ = try watch(lowest - 1, Self.entries, &tried) }
            guard try watch(lowest, Self.entries, &tried) == found[lowest] else { return false }
            guard lowest < folders.count - 1 else { return true }
            return try watch(lowest + 1, Self.itself, &tried) == .absent
        }

        private func watch(
            _ place: Int, _ events: Int32, _ tried: inout Set<Int32>
        ) throws(KeychainError) -> Inotify.Watch {
            let watch = try inotify.watch(folders[place], place == folders.count - 1 ? Self.vault : events)
            if case .number(let number) = watch { tried.insert(number) }
            return watch
        }

        /// Whether the vault's folder exists and contains the file that every writer closes. The folder cannot be
        /// removed before that file is removed.
        private func isWhole(_ lowest: Int) -> Bool { lowest == folders.count - 1 && FileSafety.allows(F_OK, lockFile) }

        // MARK: - Reading

        func news(_ events: [Inotify.Event]) -> News { events.map(news).max() ?? .nothing }

        private func news(_ event: Inotify.Event) -> News {
            if event.isAny(of: IN_Q_OVERFLOW) { return .place }
            // Unknown: the event belongs to a removed watch.
            guard let places = places[event.watch] else { return .nothing }
            if event.isAny(of: Self.itself | IN_IGNORED | IN_UNMOUNT) { return .place }
            return places.map { news(event, in: $0) }.max() ?? .nothing
        }

        /// SQLite also closes, creates and removes the WAL and its index for readers. Reads must not count as changes:
        /// an observer that reads after each change would cause an endless loop.
        private func news(_ event: Inotify.Event, in place: Int) -> News {
            guard place == folders.count - 1 else { return event.name == names[place] ? .place : .nothing }
            let isFileOfVault = [VaultLocation.lockName, VaultLocation.databaseName].contains {
                event.name.elementsEqual($0.utf8)
            }
            guard isFileOfVault else { return .nothing }
            return event.isAny(of: Self.comings) ? .place : .change
        }
    }
#endif
