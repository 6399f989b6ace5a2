// SPDX-License-Identifier: Apache-2.0
// A disk as a power cut leaves it: what was synced is there, of the rest any part.

import Foundation

/// The files below one folder, what of them is durable, and what is not yet.
struct Disk {
    private enum Change {
        case write(Int, [UInt8])
        case size(Int)
    }

    private struct File {
        var durable: [UInt8]
        var pending: [Change] = []
    }

    private enum Naming {
        case give(String, Int)
        case take(String)
        case move(String, String, Int)
        case folder(String)
    }

    private var files: [File] = []
    /// By inode, as long as the record means this file by it.
    private var fileByInode: [UInt64: Int] = [:]
    /// As the running program sees them.
    private var names: [String: Int] = [:]
    private var folders: Set<String> = []
    private var durableNames: [String: Int] = [:]
    private var durableFolders: Set<String> = []
    private var pendingNames: [Naming] = []

    /// The folder as it is now, all of it durable.
    init(_ root: String) throws {
        folders = [root]
        for name in try FileManager.default.subpathsOfDirectory(atPath: root) {
            try add(root + "/" + name)
        }
        (durableNames, durableFolders) = (names, folders)
    }

    private mutating func add(_ path: String) throws {
        var status = stat()
        guard lstat(path, &status) == 0 else { throw HarnessError("cannot look at '\(path)'") }
        guard status.st_mode & S_IFMT != S_IFDIR else { return _ = folders.insert(path) }
        names[path] = files.count
        fileByInode[UInt64(status.st_ino)] = files.count
        files.append(File(durable: Array(try Data(contentsOf: URL(fileURLWithPath: path)))))
    }

    // MARK: - What the program did

    mutating func apply(_ event: RecordedEvent) {
        switch event {
        case .create(let path, let inode):
            if let known = fileByInode[inode], names.values.contains(known) {
                // One name more.
                names[path] = known
            } else {
                names[path] = files.count
                fileByInode[inode] = files.count
                files.append(File(durable: []))
            }
            if let file = names[path] { pendingNames.append(.give(path, file)) }
        case .write(let inode, let offset, let bytes): change(inode, .write(offset, bytes))
        case .truncate(let inode, let size): change(inode, .size(size))
        case .sync(let path, let inode): sync(path, inode)
        case .rename(let from, let to):
            guard let file = names.removeValue(forKey: from) else { return }
            names[to] = file
            pendingNames.append(.move(from, to, file))
        case .unlink(let path):
            guard names.removeValue(forKey: path) != nil else { return }
            pendingNames.append(.take(path))
        case .mkdir(let path):
            folders.insert(path)
            pendingNames.append(.folder(path))
        case .acknowledge: break
        }
    }

    private mutating func change(_ inode: UInt64, _ change: Change) {
        guard let file = fileByInode[inode] else { return }
        files[file].pending.append(change)
    }

    private mutating func sync(_ path: String, _ inode: UInt64) {
        if folders.contains(path) {
            let (synced, left) = pendingNames.partitioned { Self.folder(of: $0) == path }
            Self.apply(synced, &durableNames, &durableFolders)
            pendingNames = left
        } else if let file = fileByInode[inode] {
            for change in files[file].pending { Self.apply(change, to: &files[file].durable) { true } }
            files[file].pending = []
        }
    }

    // MARK: - What is left of it

    /// Writes one state that a cut at this moment could leave. The folder is not there yet.
    func write(to target: String, insteadOf root: String, _ generator: inout SplitMix) throws {
        var (names, folders) = (durableNames, durableFolders)
        Self.apply(surviving(pendingNames, &generator), &names, &folders)
        var made: Set<String> = []
        // The contents of a folder whose own name was lost are lost too.
        for folder in folders.sorted() where folder == root || made.contains(Self.parent(folder)) {
            guard mkdir(target + folder.dropFirst(root.count), 0o700) == 0 else {
                throw HarnessError("cannot make the folder for '\(folder)'")
            }
            made.insert(folder)
        }
        for (path, file) in names.sorted(by: { $0.key < $1.key }) where made.contains(Self.parent(path)) {
            let bytes = content(files[file], &generator)
            try Scratch.write(Data(bytes), to: target + path.dropFirst(root.count))
        }
    }

    private func surviving(_ pending: [Naming], _ generator: inout SplitMix) -> [Naming] {
        switch generator.next() % 4 {
        case 0: return []
        case 1: return pending
        case 2: return Array(pending.prefix(Int(generator.next() % UInt64(pending.count + 1))))
        default: return pending.filter { _ in generator.next() % 2 == 0 }
        }
    }

    /// Each sector of what was not synced reached the disk or did not, in any order.
    private func content(_ file: File, _ generator: inout SplitMix) -> [UInt8] {
        let chance = [0, 100, 50, 90, 10][Int(generator.next() % 5)]
        var bytes = file.durable
        for change in file.pending {
            Self.apply(change, to: &bytes) { generator.next() % 100 < UInt64(chance) }
        }
        return bytes
    }

    private static let sector = 512

    private static func apply(_ change: Change, to bytes: inout [UInt8], _ isKept: () -> Bool) {
        switch change {
        case .size(let size):
            guard isKept() else { return }
            if size < bytes.count { bytes.removeLast(bytes.count - size) }
            extend(&bytes, to: size)
        case .write(let offset, let written):
            var start = 0
            while start < written.count {
                let end = min(written.count, ((offset + start) / sector + 1) * sector - offset)
                if isKept() {
                    extend(&bytes, to: offset + end)
                    bytes.replaceSubrange(offset + start..<offset + end, with: written[start..<end])
                }
                start = end
            }
        }
    }

    private static func extend(_ bytes: inout [UInt8], to size: Int) {
        guard size > bytes.count else { return }
        bytes.append(contentsOf: repeatElement(0, count: size - bytes.count))
    }

    private static func apply(_ pending: [Naming], _ names: inout [String: Int], _ folders: inout Set<String>) {
        for naming in pending {
            switch naming {
            case .give(let path, let file): names[path] = file
            case .take(let path): names[path] = nil
            case .move(let from, let to, let file):
                names[from] = nil
                names[to] = file
            case .folder(let path): folders.insert(path)
            }
        }
    }

    private static func folder(of naming: Naming) -> String {
        switch naming {
        case .give(let path, _), .take(let path), .move(_, let path, _), .folder(let path): parent(path)
        }
    }

    private static func parent(_ path: String) -> String {
        path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
    }
}

extension Array {
    fileprivate func partitioned(by belongs: (Element) -> Bool) -> (those: [Element], others: [Element]) {
        (filter(belongs), filter { !belongs($0) })
    }
}

/// A small seeded generator, so that what it led to can be had again.
struct SplitMix {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    /// Other numbers for each name.
    init(_ seed: UInt64, _ name: String) {
        self.init(name.utf8.reduce(seed) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 })
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
