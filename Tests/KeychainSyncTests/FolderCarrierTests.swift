// SPDX-License-Identifier: Apache-2.0
// A shared folder as a carrier: what is left there, and what others leave there.

import Foundation
import KeychainCrypto
import KeychainSync
import KeychainTestSupport
import Testing

@testable import KeychainSyncCore

struct FolderCarrierTests {
    private let folder: TemporaryFolder
    private let ring = RingID(Data(repeating: 7, count: 32))
    private let carrier: FolderCarrier
    private static let name = ObjectName.segment(WriterID(5), 9)
    private static let bytes = Data("an object".utf8)

    init() throws {
        folder = try TemporaryFolder("carrier-test")
        carrier = FolderCarrier(folder.path, ring: ring)
    }

    private var ringFolder: String { folder.path + "/skc1/" + ring.hex }
    private var writerFolder: String { ringFolder + "/l/" + WriterID(5).hex }

    /// All files, by path below the ring.
    private func files() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: ringFolder).filter { $0.hasSuffix(".skc") }.sorted()
    }

    private func file() throws -> String { ringFolder + "/" + (try #require(try files().first)) }

    private static func reason(_ body: () async throws -> Void) async -> CarrierFailure.Reason? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? CarrierFailure)?.reason ?? .inputOutput
        }
    }

    // MARK: - Objects

    static let names: [ObjectName] = [
        .entry(EntryHash(Data(repeating: 1, count: 32))),
        .wrap(
            EpochID(number: 3, entry: Bytes16(Data(repeating: 2, count: 16))), MemberID(Data(repeating: 3, count: 16))),
        name, .snapshot(SnapshotID(Data(repeating: 4, count: 16)), part: 2),
        .head(MemberID(Data(repeating: 5, count: 16)), 1), .invitation(InvitationID(Data(repeating: 6, count: 16))),
        .request(InvitationID(Data(repeating: 6, count: 16)), RequestID(Data(repeating: 7, count: 16))),
    ]

    @Test(arguments: names)
    func object_published_isListedAndRead(_ name: ObjectName) async throws {
        #expect(try await carrier.publish(name, Self.bytes) == .created)
        #expect(try await carrier.list().names == [name])
        let read = try await carrier.read([name]).objects
        #expect(read.map(\.name) == [name] && read.map(\.bytes) == [Self.bytes])
    }

    @Test func object_publishedAgain_isThereAlready() async throws {
        _ = try await carrier.publish(Self.name, Self.bytes)
        #expect(try await carrier.publish(Self.name, Self.bytes) == .alreadySame)
        #expect(try files().count == 1)
    }

    /// A machine that was copied writes another segment under the same number.
    @Test func otherSegmentOfTheName_isNotPublished_orLiesBesideTheFirst() async throws {
        _ = try await carrier.publish(Self.name, Self.bytes)
        #expect(try await carrier.publish(Self.name, Data("another".utf8)) == .otherThere)
        #expect(try await carrier.read([Self.name]).objects.map(\.bytes) == [Self.bytes])
        #expect(try await carrier.publish(Self.name, Data("another".utf8), beside: true) == .created)
        #expect(Set(try await carrier.read([Self.name]).objects.map(\.bytes)) == [Self.bytes, Data("another".utf8)])
        #expect(try await carrier.list().names == [Self.name])
    }

    @Test func object_removed_isGone() async throws {
        _ = try await carrier.publish(Self.name, Self.bytes)
        try await carrier.remove([Self.name, .entry(EntryHash(Data(repeating: 1, count: 32)))])
        #expect(try await carrier.list().names.isEmpty)
        #expect(try await carrier.read([Self.name]).objects.isEmpty)
    }

    @Test func ring_sharesNothingWithAnother() async throws {
        _ = try await carrier.publish(Self.name, Self.bytes)
        let other = FolderCarrier(folder.path, ring: RingID(Data(repeating: 8, count: 32)))
        #expect(try await other.list().names.isEmpty)
    }

    @Test func objectLargerThanAny_isRefused() async throws {
        let large = Data(count: Bounds.object + 1)
        #expect(await Self.reason { _ = try await carrier.publish(Self.name, large) } == .tooLarge)
        _ = try await carrier.publish(Self.name, Data(count: Bounds.object))
        #expect(try await carrier.read([Self.name]).objects.first?.bytes.count == Bounds.object)
    }

    /// Everything but a segment is of one content, or harmless beside another one.
    @Test(arguments: names.filter { $0 != name })
    func otherObjectOfTheName_liesBesideTheFirst(_ name: ObjectName) async throws {
        _ = try await carrier.publish(name, Self.bytes)
        #expect(try await carrier.publish(name, Data("another".utf8)) == .created)
        #expect(try await carrier.read([name]).objects.count == 2)
    }

    @Test func listing_tellsTheContentsOfANameWithoutReadingThem() async throws {
        let other = Data("another".utf8)
        for bytes in [Self.bytes, other] { _ = try await carrier.publish(Self.name, bytes, beside: true) }
        #expect(try await carrier.list().contents == [Self.name: [ListedContent(Self.bytes), ListedContent(other)]])
    }

    // MARK: - Folders that have become empty

    /// That of a writer stays: Syncthing would not watch it when it is made again.
    @Test(arguments: names)
    func lastObjectOfAFolder_removed_takesTheFolderWithIt_unlessItIsAWriters(_ name: ObjectName) async throws {
        _ = try await carrier.publish(name, Self.bytes)
        let before = try FileManager.default.subpathsOfDirectory(atPath: ringFolder)
        try await carrier.remove([name])
        let left = try FileManager.default.subpathsOfDirectory(atPath: ringFolder)
        let kind = String(name.text.prefix(1))
        if case .segment = name {
            #expect(left.count == before.count - 1 && left.count > 1)
        } else {
            #expect(left == [kind])
        }
        #expect(try await carrier.publish(name, Self.bytes) == .created)
    }

    @Test func folderWithAnotherObject_stays() async throws {
        _ = try await carrier.publish(Self.name, Self.bytes)
        _ = try await carrier.publish(.segment(WriterID(5), 10), Self.bytes)
        try await carrier.remove([Self.name])
        #expect(try await carrier.list().names == [.segment(WriterID(5), 10)])
    }

    /// One machine removes the last object of a folder again and again while another one publishes in it.
    @Test func folderRemovedWhileSomebodyPublishes_failsNeither() async throws {
        let ring = ring
        try await withThrowingTaskGroup(of: Void.self) { [path = folder.path] group in
            for writer in UInt64(0)..<2 {
                group.addTask {
                    let carrier = FolderCarrier(path, ring: ring)
                    for number in UInt64(1)...400 {
                        let name = ObjectName.head(MemberID(Data(repeating: 3, count: 16)), 2 * number + writer)
                        guard try await carrier.publish(name, Self.bytes) == .created else {
                            throw CocoaError(.fileWriteUnknown)
                        }
                        _ = try await carrier.list()
                        guard try await carrier.read([name]).objects.count == 1 else {
                            throw CocoaError(.fileReadUnknown)
                        }
                        try await carrier.remove([name])
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await carrier.list().names.isEmpty)
    }

    // MARK: - Damage

    private func age(_ file: String) throws {
        let date = Date(timeIntervalSinceNow: -700)
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: file)
    }

    @Test func damagedObject_isNamedAfterTheGrace_andPutRightByItsWriter() async throws {
        _ = try await carrier.publish(Self.name, Self.bytes)
        let file = try file()
        try Data("changed".utf8).write(to: URL(fileURLWithPath: file))
        #expect(try await carrier.read([Self.name]).damaged.isEmpty)
        try age(file)
        let reading = try await carrier.read([Self.name])
        #expect(reading.damaged == [Self.name] && reading.objects.isEmpty)
        #expect(try await carrier.publish(Self.name, Self.bytes, beside: true) == .created)
        #expect(try files().count == 1)
        #expect(try await carrier.read([Self.name]).damaged.isEmpty)
    }

    @Test func emptyFile_isNoObject() async throws {
        _ = try await carrier.publish(Self.name, Self.bytes)
        let empty = writerFolder + "/" + UInt64(10).hex + "-00000000.skc"
        for path in [try file(), empty] { try Data().write(to: URL(fileURLWithPath: path)) }
        try age(empty)
        #expect(try await carrier.list().names.isEmpty)
        #expect(try await carrier.read([.segment(WriterID(5), 10)]).damaged.isEmpty)
        #expect(try await carrier.publish(Self.name, Self.bytes) == .created)
        #expect(try await carrier.publish(.segment(WriterID(5), 10), Self.bytes) == .created)
    }

    /// A file that is not whole is no sign of a copy, and keeps nobody from publishing.
    @Test func damagedFileOfTheName_keepsNoSegmentOut() async throws {
        _ = try await carrier.publish(.segment(WriterID(5), 8), Self.bytes)
        try Data("x".utf8).write(to: URL(fileURLWithPath: writerFolder + "/" + UInt64(9).hex + "-00000000.skc"))
        #expect(try await carrier.publish(Self.name, Self.bytes) == .created)
        #expect(try await carrier.read([Self.name]).objects.map(\.bytes) == [Self.bytes])
    }

    @Test func manyFilesOfAName_hideNoObject() async throws {
        _ = try await carrier.publish(Self.name, Self.bytes)
        for number in 0..<100 {
            let hash = String(format: "%08x", number)
            try Data("x".utf8).write(to: URL(fileURLWithPath: writerFolder + "/" + UInt64(9).hex + "-\(hash).skc"))
        }
        #expect(try await carrier.read([Self.name]).objects.map(\.bytes) == [Self.bytes])
    }

    /// What is no file may be another one's, so it is not replaced.
    @Test(arguments: ["pipe", "link", "dangling", "folder", "full folder", "socket"], names)
    func somethingElseInThePlaceOfAnObject_failsItsWrite_andStays(kind: String, _ name: ObjectName) async throws {
        _ = try await carrier.publish(name, Self.bytes)
        let file = try file()
        try put(kind, inThePlaceOf: file)
        let error = await #expect(throws: CarrierFailure.self) {
            _ = try await carrier.publish(name, Self.bytes, beside: true)
        }
        #expect(error?.reason == .denied)
        #expect(error?.message.contains("'\(file)'") == true && error?.message.contains("Move it away.") == true)
        var status = stat()
        #expect(lstat(file, &status) == 0 && status.st_mode & S_IFMT != S_IFREG)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: (file as NSString).deletingLastPathComponent).count == 1
        )
    }

    /// A machine that needs what opens the ring can name it. Other kinds count as missing.
    @Test(arguments: ["pipe", "link", "dangling", "folder", "full folder", "socket"], names)
    func somethingElseInThePlaceOfAnObject_isNamed_ifItOpensTheRing(kind: String, _ name: ObjectName) async throws {
        _ = try await carrier.publish(name, Self.bytes)
        try put(kind, inThePlaceOf: try file())
        let isNamed =
            switch name {
            case .entry, .wrap: true
            default: false
            }
        #expect(try await carrier.list().names == (isNamed ? [name] : []))
        let reading = try await carrier.read([name])
        #expect(reading.objects.isEmpty && reading.damaged == [name])
    }

    /// Moves the file away.
    private func put(_ kind: String, inThePlaceOf file: String) throws {
        let moved = folder.path + "/moved"
        try FileManager.default.moveItem(atPath: file, toPath: moved)
        switch kind {
        case "pipe": #expect(mkfifo(file, 0o600) == 0)
        case "socket": #expect(mknod(file, S_IFSOCK | 0o600, 0) == 0)
        case "link": try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: moved)
        case "dangling": try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: moved + "/gone")
        case "full folder":
            try FileManager.default.createDirectory(atPath: file + "/x", withIntermediateDirectories: true)
        case "folder": try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)
        default: try Data(count: Bounds.object + 1).write(to: URL(fileURLWithPath: file))
        }
    }

    // MARK: - What others leave there

    /// What a tool has copied so far.
    @Test(arguments: [0, 4])
    func objectCopiedHalf_isReadWhenItIsWhole(length: Int) async throws {
        _ = try await carrier.publish(Self.name, Self.bytes)
        try Self.bytes.prefix(length).write(to: URL(fileURLWithPath: try file()))
        #expect(try await carrier.read([Self.name]).objects.isEmpty)
        #expect(try await carrier.publish(Self.name, Self.bytes) == .created)
        #expect(try await carrier.read([Self.name]).objects.map(\.bytes) == [Self.bytes])
    }

    static let foreign: [@Sendable (_ folder: String, _ file: String) throws -> Void] = [
        { folder, file in try Data("x".utf8).write(to: URL(fileURLWithPath: folder + "/.hidden.skc")) },
        { folder, file in
            let copy = file.replacingOccurrences(of: ".skc", with: ".sync-conflict-20261124-120000-ABCDEFG.skc")
            try FileManager.default.copyItem(atPath: file, toPath: copy)
        },
        { folder, file in try FileManager.default.copyItem(atPath: file, toPath: file + "~") },
        { folder, file in
            let upper = folder + "/" + (file as NSString).lastPathComponent.uppercased()
            try FileManager.default.copyItem(atPath: file, toPath: upper)
        },
        { folder, _ in
            try FileManager.default.createDirectory(atPath: folder + "/deep/deeper", withIntermediateDirectories: true)
        },
        { folder, _ in _ = mkfifo(folder + "/pipe", 0o600) },
        { folder, _ in try FileManager.default.createSymbolicLink(atPath: folder + "/link", withDestinationPath: "/") },
        { folder, _ in
            let name = [UInt8]((folder + "/").utf8) + [0xFF, 0xFE, 0]
            name.withUnsafeBufferPointer { path in
                path.withMemoryRebound(to: CChar.self) { path in
                    if let start = path.baseAddress { close(open(start, O_CREAT | O_WRONLY, 0o600)) }
                }
            }
        },
    ]

    @Test(arguments: foreign.indices)
    func fileOfOthers_isPassedOver(_ number: Int) async throws {
        _ = try await carrier.publish(Self.name, Self.bytes)
        try Self.foreign[number](writerFolder, try file())
        #expect(try await carrier.list().names == [Self.name])
        #expect(try await carrier.read([Self.name]).objects.map(\.bytes) == [Self.bytes])
        #expect(try await carrier.publish(Self.name, Self.bytes) == .alreadySame)
    }

    /// In the place of an object: nothing waits for it, and nothing behind it is read.
    @Test(arguments: ["pipe", "link", "folder", "large"])
    func object_thatIsSomethingElse_isNotRead(kind: String) async throws {
        _ = try await carrier.publish(Self.name, Self.bytes)
        try put(kind, inThePlaceOf: try file())
        #expect(try await carrier.read([Self.name]).objects.isEmpty)
    }

    @Test func ringFolder_thatIsALink_isNotFollowed() async throws {
        let outside = try TemporaryFolder("outside")
        try FileManager.default.createDirectory(atPath: folder.path + "/skc1", withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(atPath: ringFolder, withDestinationPath: outside.path)
        #expect(try await carrier.list().names.isEmpty)
        #expect(await Self.reason { _ = try await carrier.publish(Self.name, Self.bytes) } == .denied)
        #expect(try FileManager.default.contentsOfDirectory(atPath: outside.path).isEmpty)
    }

    @Test func folder_withMoreFilesThanAnyRingNeeds_isNotListed() async throws {
        let small = FolderCarrier(folder.path, ring: ring, mostFiles: 10)
        _ = try await small.publish(Self.name, Self.bytes)
        for number in 0..<10 { try Data().write(to: URL(fileURLWithPath: writerFolder + "/\(number)")) }
        #expect(await Self.reason { _ = try await small.list() } == .overcrowded)
    }

    @Test(arguments: [0, 1])
    func folder_withAsManyObjectsAsTheBoundAndMore_isListedOrNot(_ extra: Int) async throws {
        let carrier = FolderCarrier(folder.path, ring: ring, mostNames: 3)
        for number in 1...UInt64(3 + extra) {
            _ = try await carrier.publish(.segment(WriterID(7), number), Data("\(number)".utf8))
        }
        guard extra > 0 else { return #expect(try await carrier.list().names.count == 3) }
        #expect(await Self.reason { _ = try await carrier.list() } == .overcrowded)
    }

    /// As on a network file system whose server is gone.
    @Test func folder_thatNeverAnswers_isUnavailable() async throws {
        let queue = DispatchQueue(label: "never")
        queue.suspend()
        defer { queue.resume() }
        let silent = FolderCarrier(folder.path, ring: ring, timeout: .milliseconds(10), queue: queue)
        #expect(await Self.reason { _ = try await silent.list() } == .unavailable)
        #expect(await Self.reason { _ = try await silent.publish(Self.name, Self.bytes) } == .unavailable)
    }

    /// As a process leaves it that was killed while it wrote.
    @Test func residue_isRemovedWhenItIsOld() async throws {
        _ = try await carrier.publish(Self.name, Self.bytes)
        let (old, young) = (writerFolder + "/.tmp-1", writerFolder + "/.tmp-2")
        for path in [old, young] { try Data("half".utf8).write(to: URL(fileURLWithPath: path)) }
        try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSinceNow: -7200)], ofItemAtPath: old)
        _ = try await carrier.publish(.segment(WriterID(5), 10), Self.bytes)
        #expect(!FileManager.default.fileExists(atPath: old))
        #expect(FileManager.default.fileExists(atPath: young))
    }

    // MARK: - The folder

    @Test func folderThatIsGone_isUnavailableAndNotMade() async throws {
        let gone = FolderCarrier(folder.path + "/gone", ring: ring)
        #expect(await Self.reason { _ = try await gone.list() } == .unavailable)
        #expect(await Self.reason { _ = try await gone.read([Self.name]) } == .unavailable)
        #expect(await Self.reason { _ = try await gone.publish(Self.name, Self.bytes) } == .unavailable)
        #expect(await Self.reason { try await gone.remove([Self.name]) } == .unavailable)
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/gone"))
    }

    @Test(.enabled(if: geteuid() != 0, "root may write anywhere"))
    func folderThatMayNotBeWritten_isDenied() async throws {
        _ = try await carrier.publish(Self.name, Self.bytes)
        #expect(chmod(writerFolder, 0o500) == 0)
        defer { chmod(writerFolder, 0o700) }
        #expect(await Self.reason { _ = try await carrier.publish(.segment(WriterID(5), 10), Self.bytes) } == .denied)
        #expect(try await carrier.read([Self.name]).objects.count == 1)
    }

    // MARK: - A ring

    /// Each machine writes and looks in turns, and all of them come to the same.
    @Test func machines_overOneFolder_haveTheSameItems() async throws {
        var world = try World(3)
        let carrier = FolderCarrier(folder.path, ring: world.machines[0].log.id)
        for round in 0..<3 {
            for index in 0..<3 { try world.write(index, ["item-\(index)": "\(round)", "shared": "\(round)-\(index)"]) }
            for index in 0..<3 { try world.upload(index) }
            // What is in memory goes through the folder.
            for (name, bytes) in world.carrier { _ = try await carrier.publish(name, bytes) }
            let objects = try await carrier.read(Array(try await carrier.list().names)).objects
            world.carrier = Dictionary(uniqueKeysWithValues: objects.map { ($0.name, $0.bytes) })
            for index in 0..<3 { world.look(index) }
        }
        for index in 0..<3 {
            #expect(try (0..<3).map { try world.shown(index, "item-\($0)") } == ["2", "2", "2"])
            #expect(try world.shown(index, "shared") == world.shown(0, "shared"))
            #expect(world.findings[index].isEmpty)
        }
    }

    /// Two clones of a repository, each with a machine's objects: merging them never conflicts, and changes no byte.
    @Test(.enabled(if: Programs.installed("git") != nil, "git is not installed"))
    func folderCarriedByGit_bringsTheObjectsOfAllMachines() async throws {
        let git = Git(home: folder.path + "/home")
        try git.run("init", "--quiet", "--bare", folder.path + "/remote")
        let clones = ["one", "two"].map { folder.path + "/" + $0 }
        for clone in clones {
            try git.run("clone", "--quiet", folder.path + "/remote", clone)
            try git.synchronize(clone)
        }
        let carriers = clones.map { FolderCarrier($0, ring: ring) }
        // Bytes that git would take for text with the line ends of another system.
        let bytes = Data("line\r\nline\n\0".utf8)
        for (index, carrier) in carriers.enumerated() {
            _ = try await carrier.publish(.segment(WriterID(UInt64(index)), 1), bytes + [UInt8(index)])
        }
        for clone in clones + clones { try git.synchronize(clone) }
        for carrier in carriers {
            let names = try await carrier.list().names
            #expect(names == [.segment(WriterID(0), 1), .segment(WriterID(1), 1)])
            let read = try await carrier.read(names.sorted()).objects
            #expect(read.map(\.bytes) == [bytes + [0], bytes + [1]])
        }
    }
}

/// git, with settings of its own.
private struct Git {
    let home: String

    func run(_ arguments: String...) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["git", "-c", "user.name=test", "-c", "user.email=test@example.invalid"] + arguments
        process.environment = ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "HOME": home]
        process.standardError = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        try process.run(limitedTo: .testLimit)
        try process.waitForEnd()
        guard process.terminationStatus == 0 else { throw CocoaError(.executableLoad) }
    }

    /// As a user does by hand, or a timer.
    func synchronize(_ clone: String) throws {
        try run("-C", clone, "add", "--all")
        try run("-C", clone, "commit", "--quiet", "--allow-empty", "--message", "objects")
        try? run("-C", clone, "pull", "--quiet", "--no-rebase", "--no-edit", "origin", "HEAD")
        try run("-C", clone, "push", "--quiet", "origin", "HEAD")
    }
}
