// SPDX-License-Identifier: Apache-2.0
// How a machine notices what others put into a shared folder.

import Foundation
import KeychainCrypto
import KeychainSyncCore
import KeychainTestSupport
import SecretMemory
import Testing

@testable import KeychainSync
@testable import KeychainVault

@Suite(.timeLimit(.minutes(60)))
struct FolderChangesTests {
    private let folder: TemporaryFolder
    private let ring = RingID(Data(repeating: 7, count: 32))
    private static let bytes = Data("an object".utf8)
    private static let never = FolderCarrier.Intervals(otherwise: .seconds(86_400), watched: .seconds(86_400))

    #if os(Linux)
        /// In a chroot the kernel does not say what the root folder lies on. Then somebody looks regularly.
        private static let mounts = FileManager.default.contents(atPath: "/proc/self/mountinfo") ?? Data()
        private static let hasKnownRoot = FolderEvents.kind(of: "/", in: mounts) != nil
    #else
        private static let hasKnownRoot = true
    #endif
    private static let unknownRoot: Comment = "the kernel does not say what the root folder lies on: a chroot"

    init() throws { folder = try TemporaryFolder("folder-changes") }

    /// Makes one change after the other, each once the one before was noticed; the first look counts as such.
    private func afterEachHint(of watching: FolderCarrier, _ changes: [() async throws -> Void]) async throws {
        var rest = changes[...]
        for await _ in watching.changes() {
            guard let change = rest.popFirst() else { return }
            try await change()
        }
    }

    private func publish(_ name: ObjectName) async throws {
        _ = try await FolderCarrier(folder.path, ring: ring).publish(name, Self.bytes)
    }

    #if os(Linux)
        /// Without looking: the kernel tells of the folders of the ring, of a new writer's, and of a file in a folder that was there.
        @Test func objects_ofAnotherProcess_areNoticedAtOnce() async throws {
            let watching = FolderCarrier(folder.path, ring: ring, intervals: Self.never)
            let names: [ObjectName] = [.segment(WriterID(5), 1), .segment(WriterID(6), 1), .segment(WriterID(6), 2)]
            try await afterEachHint(of: watching, names.map { name in { try await publish(name) } })
        }

        @Test func ringFolder_removedAndMadeAgain_isStillWatched() async throws {
            let watching = FolderCarrier(folder.path, ring: ring, intervals: Self.never)
            try await publish(.segment(WriterID(5), 1))
            try await afterEachHint(
                of: watching,
                [
                    { try FileManager.default.removeItem(atPath: folder.path + "/skc1") },
                    { try await publish(.segment(WriterID(5), 1)) }, { try await publish(.segment(WriterID(5), 2)) },
                ])
        }

        /// A temporary name of a tool that copies, and then the whole file.
        @Test func fileThatIsRenamedIntoPlace_isNoticed() async throws {
            try await publish(.segment(WriterID(5), 1))
            let source = folder.path + "/skc1/" + ring.hex + "/l/" + WriterID(5).hex
            let file = try #require(try FileManager.default.contentsOfDirectory(atPath: source).first)
            try FileManager.default.moveItem(atPath: source + "/" + file, toPath: source + "/.tool.\(file).tmp")
            let watching = FolderCarrier(folder.path, ring: ring, intervals: Self.never)
            try await afterEachHint(
                of: watching,
                [
                    {
                        try FileManager.default.moveItem(
                            atPath: source + "/.tool.\(file).tmp", toPath: source + "/" + file)
                    }
                ])
        }

        @Test(
            arguments: [
                (IN_CREATE, "x.skc", nil, true), (IN_MOVED_TO, "x.skc", nil, true), (IN_CREATE, ".tmp-1", nil, false),
                (IN_CLOSE_WRITE, ".syncthing.x.skc.tmp", nil, false), (IN_CREATE, "skc1", "skc1", true),
                (IN_CREATE, "photo.jpeg", "skc1", false), (IN_MOVE_SELF, "", "skc1", true), (IN_IGNORED, "", nil, true),
            ] as [(Int32, String, String?, Bool)])
        func event_ofAName_mattersOrNot(_ mask: Int32, _ name: String, _ only: String?, _ matters: Bool) {
            var names: [Int32: String?] = [3: only]
            let event = Inotify.Event(watch: 3, mask: UInt32(bitPattern: mask), name: Array(name.utf8))
            #expect(FolderEvents.matters(event, &names) == matters)
        }

        /// Of a whole object it is enough to say so. For everything else the folders have to be looked at.
        @Test(
            arguments: [
                (IN_CREATE, "x.skc", .object), (IN_MOVED_TO, "x.skc", .object), (IN_CLOSE_WRITE, "x.skc", .object),
                (IN_DELETE, "x.skc", .other), (IN_MOVED_FROM, "x.skc", .other), (IN_CREATE, "x.txt", .other),
                (IN_CREATE | IN_ISDIR, "x.skc", .other), (IN_CREATE | IN_ISDIR, "0000000000000005", .other),
                (IN_Q_OVERFLOW, "", .other), (IN_CREATE, ".x.skc", []),
            ] as [(Int32, String, FolderEvents.News)])
        func event_ofAName_tellsOfAnObjectOrOfMore(_ mask: Int32, _ name: String, _ news: FolderEvents.News) {
            var names: [Int32: String?] = [3: nil]
            let event = Inotify.Event(watch: 3, mask: UInt32(bitPattern: mask), name: Array(name.utf8))
            #expect(FolderEvents.news(event, &names) == news)
        }

        /// Otherwise each save would lead to a second exchange, which finds nothing.
        @Test func object_ofThisProcess_isNotToldOf() async throws {
            let own = OwnFiles()
            let publishing = FolderCarrier(folder.path, ring: ring, own: own)
            _ = try await publishing.publish(.segment(WriterID(5), 1), Self.bytes)
            let (told, tell) = AsyncStream.makeStream(of: (news: FolderEvents.News, own: Int).self)
            let events = FolderEvents(most: 1, own: own) { tell.yield(($0, $1)) }
            #expect(events.watch(folder.path + "/skc1/" + ring.hex + "/l/" + WriterID(5).hex))
            _ = try await publishing.publish(.segment(WriterID(5), 2), Self.bytes)
            try await publish(.segment(WriterID(5), 3))
            var (hints, mark) = (0, 0)
            for await (news, own) in told {
                mark ^= own
                guard !news.isEmpty else { continue }
                hints += 1
                if try await publishing.list().names.contains(.segment(WriterID(5), 4)) { break }
                try await publish(.segment(WriterID(5), 4))
            }
            #expect(hints == 2)
            #expect(mark == FolderCarrier.mark(FileName(.segment(WriterID(5), 2), Self.bytes), Self.bytes.count))
            withExtendedLifetime(events) {}
        }

        /// An object that came before its folder was watched is told of by no event.
        @Test func objects_inAFolderThatWasMovedThere_areNoticed() async throws {
            try await publish(.segment(WriterID(5), 1))
            let elsewhere = try TemporaryFolder("folder-changes-elsewhere")
            let name = ObjectName.segment(WriterID(6), 1)
            _ = try await FolderCarrier(elsewhere.path, ring: ring).publish(name, Self.bytes)
            let path = "/skc1/" + ring.hex + "/l/" + WriterID(6).hex
            let watching = FolderCarrier(folder.path, ring: ring, intervals: Self.never)
            var isMoved = false
            for await _ in watching.changes() {
                if try await watching.list().names.contains(name) { return }
                guard !isMoved else { continue }
                isMoved = true
                try FileManager.default.moveItem(atPath: elsewhere.path + path, toPath: folder.path + path)
            }
            Issue.record("The changes came to an end.")
        }

        @Test(arguments: [
            ("/data/a/shared", "ext4"), ("/", "ext4"), ("/mnt", "ext4"), ("/mnt/nas/shared", "nfs4"),
            ("/mnt/nas2", "ext4"), ("/media/a stick/keychain", "vfat"), ("/over", "tmpfs"),
        ])
        func fileSystem_ofAPath_isThatOfTheInnermostMount(_ path: String, _ kind: String) {
            let mounts = Data(
                #"""
                22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
                40 22 0:35 / /mnt/nas rw shared:20 master:3 - nfs4 server:/export - rw
                41 22 8:17 / /media/a\040stick rw - vfat /dev/sdb1 rw
                42 22 8:18 / /over rw - ext4 /dev/sdc1 rw
                43 42 0:40 / /over rw - tmpfs tmpfs rw
                44 22 not a mount
                """#.utf8)
            #expect(FolderEvents.kind(of: path, in: mounts) == kind)
        }

        @Test(.enabled(if: hasKnownRoot, unknownRoot)) func folder_thatIsNoDisk_isNotTrustedToTellAll() {
            #expect(FolderEvents.tellsAll(of: folder.path))
            #expect(!FolderEvents.tellsAll(of: "/proc"))
        }
    #endif

    @Test func ownFiles_ofAFolderThatIsNotWatched_areForgotten() {
        let own = OwnFiles()
        own.expect("first", 1)
        for number in 0..<2000 { own.expect("\(number)", number) }
        #expect(own.take("first") == nil)
        #expect(own.take("1999") == 1999)
        #expect(own.take("1999") == nil)
    }

    @Test func carriers_ofOneMachine_haveTheirOwnFilesInCommon() throws {
        let (kind, place) = (FolderKind(), CarrierPlace(scheme: FolderKind.scheme, address: folder.path))
        let carriers = try (0..<2).map { _ in try kind.carrier(of: ring, at: place) as? FolderCarrier }
        #expect(carriers[0]?.own === carriers[1]?.own)
        #expect(carriers[0] != nil)
    }

    /// Where the kernel watches nothing, and where the shared folder was unmounted.
    @Test func changes_thatTheKernelDoesNotTell_areNoticedByLooking() async throws {
        let often = FolderCarrier.Intervals(otherwise: .milliseconds(5), watched: .seconds(86_400))
        let watching = FolderCarrier(folder.path, ring: ring, intervals: often, mostWatches: 0)
        try await afterEachHint(
            of: watching,
            [
                { try await publish(.segment(WriterID(5), 1)) },
                { try FileManager.default.removeItem(atPath: folder.path) },
                {
                    try FileManager.default.createDirectory(
                        atPath: folder.path, withIntermediateDirectories: false)
                    try await publish(.segment(WriterID(5), 2))
                },
            ])
    }

    /// Which interval it waits for, told by a clock that never comes to an end.
    @Test(.enabled(if: hasKnownRoot, unknownRoot), arguments: [(2048, Duration.seconds(60)), (0, .seconds(5))])
    func pauses_whereTheKernelTellsAll_areLong(_ mostWatches: Int, _ pause: Duration) async throws {
        let clock = StandingClock()
        let watching = FolderCarrier(folder.path, ring: ring, clock: clock, mostWatches: mostWatches)
        let watch = Task { for await _ in watching.changes() {} }
        defer { watch.cancel() }
        var asked: [Duration] = []
        for await duration in clock.asked.stream {
            asked.append(duration)
            break
        }
        #if os(Linux)
            #expect(asked == [pause])
        #else
            #expect(asked == [.seconds(5)])
        #endif
    }
}

/// A clock on which no time passes. It tells for how long it was asked to sleep.
private final class StandingClock: Clock {
    let asked = AsyncStream.makeStream(of: Duration.self)
    private let start = ContinuousClock.now

    var now: ContinuousClock.Instant { start }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        asked.continuation.yield(start.duration(to: deadline))
        try await Task.sleep(for: .seconds(86_400))
    }
}
