// SPDX-License-Identifier: Apache-2.0
// Watching a folder that may not be there yet, go, and come again.

#if os(Linux)
    import Foundation
    import KeychainEngine

    /// The watches on a vault's folder and on those above it.
    ///
    /// While the vault is whole, those above are watched only for being moved or removed, so that what others do in a home
    /// folder wakes nobody. While it is not, the two lowest that exist are watched for names that come and go: the lowest for
    /// the next one on the way, the one above it because a folder in which a file is still open tells nobody that it is gone.
    struct FolderWatch {
        /// What events mean to who looks at the vault.
        enum News: Int, Comparable {
            case nothing
            /// Items, keybag or lock state may have changed.
            case change
            /// The files may be others; the watches have to be set anew.
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
        /// The places on the way down that each watch stands for: links may make one folder several of them.
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

        /// Watches the folders that are there now. What happens after this has returned is never missed.
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

        /// - Returns: `nil` if a folder came, went or was replaced meanwhile.
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

        /// Each folder is watched for being moved before the next is looked at.
        private func watchedDownwards(_ tried: inout Set<Int32>) throws(KeychainError) -> [Inotify.Watch] {
            var found: [Inotify.Watch] = []
            for place in folders.indices {
                let watch = try watch(place, Self.itself, &tried)
                guard watch != .absent else { break }
                found.append(watch)
            }
            return found
        }

        /// Whether the lowest folder is where it was, now that its going would show, and the next one is still not there.
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

        /// Whether the vault's folder is there with the file that every writer closes; nobody can remove the folder then
        /// without removing that first.
        private func isWhole(_ lowest: Int) -> Bool { lowest == folders.count - 1 && access(lockFile, F_OK) == 0 }

        // MARK: - Reading

        func news(_ events: [Inotify.Event]) -> News { events.map(news).max() ?? .nothing }

        private func news(_ event: Inotify.Event) -> News {
            if event.isAny(of: IN_Q_OVERFLOW) { return .place }
            // Unknown: of a watch that was given up.
            guard let places = places[event.watch] else { return .nothing }
            if event.isAny(of: Self.itself | IN_IGNORED | IN_UNMOUNT) { return .place }
            return places.map { news(event, in: $0) }.max() ?? .nothing
        }

        /// SQLite's log and its index also close, and come and go, when somebody only reads. Reading must not be news: who
        /// reads after each change would never come to rest.
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
