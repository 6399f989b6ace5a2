// SPDX-License-Identifier: Apache-2.0
// What somebody without keys does to the files of a shared folder, and copies of a machine's vault.

import Foundation
import KeychainSyncCore
import KeychainTestSupport
import Testing

@testable import KeychainSync

extension RingMemberTests {
    private var shared: String { folder.path + "/shared/skc1" }

    private func files(_ kind: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: shared)
            .filter { $0.contains("/\(kind)/") && $0.hasSuffix(".skc") }.sorted().map { shared + "/" + $0 }
    }

    private func replica(_ machine: Machine) async throws -> Replica {
        var report = ExchangeReport()
        return try await machine.member.take(&report) { _, _ in [] }.state.replica
    }

    private static func isCopied(_ finding: SyncFinding) -> Bool {
        switch finding {
        case .equivocation, .startedAgain: true
        default: false
        }
    }

    @Test(arguments: [Data(), Data("junk".utf8)])
    func fileUnderTheNextNumber_makesNoOtherWriter(_ junk: Data) async throws {
        let (laptop, desktop) = try await pair()
        let writer = try await replica(laptop).writer
        for number in UInt64(1)...4 {
            let folder = FolderCarrier(folder.path + "/shared", ring: try await replica(laptop).log.id)
            let name = ObjectName.segment(writer, number)
            if junk.isEmpty {
                let path = shared + "/" + (try await replica(laptop).log.id.hex) + "/l/" + writer.hex
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
                try junk.write(to: URL(fileURLWithPath: "\(path)/\(number.hex)-00000000.skc"))
            } else {
                _ = try await folder.publish(name, junk)
            }
            try laptop.add("\(number)", "1")
            #expect(try await !laptop.exchange().findings.contains(where: Self.isCopied))
            #expect(try await !desktop.exchange().findings.contains(where: Self.isCopied))
            #expect(try desktop.items().count == Int(number))
        }
        #expect(try await replica(laptop).writer == writer)
    }

    @Test func manyFilesThatAreNoSegments_makeNoSnapshot() async throws {
        let (laptop, desktop) = try await pair()
        try laptop.add("a", "1")
        try await laptop.exchange()
        let before = try files("s")
        let replica = try await replica(laptop)
        let carrier = FolderCarrier(folder.path + "/shared", ring: replica.log.id)
        for number in UInt64(0)..<260 {
            let path = "\(shared)/\(replica.log.id.hex)/l/\(number.hex)"
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            try Data().write(to: URL(fileURLWithPath: "\(path)/\(UInt64(1).hex)-00000000.skc"))
            _ = try await carrier.publish(.segment(WriterID(1000 + number), 1), Data("junk".utf8))
        }
        for machine in [laptop, desktop] { try await machine.exchange() }
        #expect(try files("s") == before)
    }

    @Test func ownFile_cutShort_isPutRight() async throws {
        let (laptop, desktop) = try await pair()
        try laptop.add("a", "1")
        try await laptop.exchange()
        let own = try await replica(laptop).writer.hex
        let file = try #require(try files("l").first { $0.contains(own) })
        try Data("x".utf8).write(to: URL(fileURLWithPath: file))
        try await desktop.exchange()
        #expect(try desktop.items() == [])
        try await laptop.exchange()
        try await desktop.exchange()
        #expect(try desktop.items() == ["a=1"])
    }

    @Test func fileThatStaysDamaged_isNamed() async throws {
        let (laptop, desktop) = try await pair()
        try laptop.add("a", "1")
        try await laptop.exchange()
        let own = try await replica(laptop).writer
        let file = try #require(try files("l").first { $0.contains(own.hex) })
        var bytes = try Data(contentsOf: URL(fileURLWithPath: file))
        bytes[500] ^= 1
        try bytes.write(to: URL(fileURLWithPath: file))
        let finding = SyncFinding.refused(.segment(own, 1), .malformed)
        #expect(try await !desktop.exchange().findings.contains(finding))
        let date = Date(timeIntervalSinceNow: -700)
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: file)
        #expect(try await desktop.exchange().findings.contains(finding))
        // As it is told: whoever removes it gets it again.
        try FileManager.default.removeItem(atPath: file)
        try await laptop.exchange()
        try await desktop.exchange()
        #expect(try desktop.items() == ["a=1"])
    }

    /// A home that was copied to another machine; both go on while the folder reaches only one of them.
    private func copyOfAHome() async throws -> (laptop: Machine, copy: Machine, desktop: Machine) {
        let (laptop, desktop) = try await pair()
        try laptop.add("a", "1")
        try await laptop.exchange()
        try FileManager.default.copyItem(atPath: folder.path + "/laptop", toPath: folder.path + "/copy")
        let copy = try Machine(folder.path, "copy")
        try laptop.add("original", "1")
        try await laptop.exchange()
        let writer = try await replica(laptop).writer.hex
        let file = try #require(try files("l").last { $0.contains(writer) })
        try FileManager.default.moveItem(atPath: file, toPath: folder.path + "/away")
        try copy.add("copy", "2")
        try await copy.exchange()
        try FileManager.default.moveItem(atPath: folder.path + "/away", toPath: file)
        return (laptop, copy, desktop)
    }

    @Test func copyOfAHome_isNoticedOnAllMachines_andNothingIsLost() async throws {
        let (laptop, copy, desktop) = try await copyOfAHome()
        for _ in 0..<2 {
            for machine in [laptop, copy, desktop] {
                #expect(try await machine.exchange().findings.contains(where: Self.isCopied))
            }
        }
        #expect(try laptop.items().contains("original=1"))
        #expect(try copy.items().contains("copy=2"))
        // As the message says.
        for machine in [copy, laptop] { try await joinAgain(machine, by: desktop) }
        for _ in 0..<3 { for machine in [laptop, copy, desktop] { try await machine.exchange() } }
        #expect(try desktop.items() == ["a=1", "copy=2", "original=1"])
        #expect(try copy.items() == desktop.items())
        #expect(try laptop.items() == desktop.items())
    }

    @Test func noticeOfACopy_endsOnceItsMachineIsNoMember() async throws {
        let (laptop, copy, desktop) = try await copyOfAHome()
        func isCopied(_ machine: Machine) async throws -> Bool {
            try await machine.member.status().notices.contains { $0.kind == NoticeKind.copied.rawValue }
        }
        for machine in [laptop, copy, desktop] { try await machine.exchange() }
        #expect(try await isCopied(desktop))
        let former = try await replica(laptop).member
        for machine in [copy, laptop] { try await joinAgain(machine, by: desktop) }
        _ = try await desktop.member.remove([former])
        for machine in [laptop, copy, desktop] {
            for _ in 0..<2 { try await machine.exchange() }
            #expect(try await !isCopied(machine), "\(machine.name)")
        }
    }

    /// An image of a disk that holds the shared folder, too. Nothing tells the machine, and it writes before anybody else looks: its next
    /// segment has the number of one that others know, and what it forgot has the number of another write.
    @Test(arguments: [1, 3], [false, true])
    func machineRestoredWithItsFolder_thatJoinsAgain_hasWhatTheOthersHave(forgotten: Int, isFolderBack: Bool)
        async throws
    {
        let (laptop, desktop) = try await pair()
        try laptop.add("base", "1")
        for machine in [laptop, desktop] { try await machine.exchange() }
        let (home, now, later) = (folder.path + "/laptop", folder.path + "/shared", folder.path + "/shared.later")
        try FileManager.default.copyItem(atPath: home, toPath: folder.path + "/restored")
        try FileManager.default.copyItem(atPath: now, toPath: folder.path + "/shared.image")
        for number in 0..<forgotten {
            try laptop.add("forgotten \(number)", "1")
            for machine in [laptop, desktop] { try await machine.exchange() }
        }
        try FileManager.default.moveItem(atPath: now, toPath: later)
        try FileManager.default.moveItem(atPath: folder.path + "/shared.image", toPath: now)
        let restored = try Machine(folder.path, "restored")
        try restored.add("new", "2")
        try await restored.exchange()
        if isFolderBack { try addMissingFiles(of: later, to: now) }
        // As the message says.
        try await joinAgain(restored, by: desktop)
        for _ in 0..<3 { for machine in [restored, desktop] { try await machine.exchange() } }
        let expected = (["base=1", "new=2"] + (0..<forgotten).map { "forgotten \($0)=1" }).sorted()
        #expect(try desktop.items() == expected)
        #expect(try restored.items() == expected)
    }

    /// As a tool does that brings the newer files back.
    private func addMissingFiles(of source: String, to target: String) throws {
        for file in try FileManager.default.subpathsOfDirectory(atPath: source)
        where !FileManager.default.fileExists(atPath: target + "/" + file) {
            try FileManager.default.copyItem(atPath: source + "/" + file, toPath: target + "/" + file)
        }
    }

    private func joinAgain(_ machine: Machine, by sponsor: Machine) async throws {
        try machine.member.forget()
        try await sponsor.admit(machine, at: place)
    }
}
