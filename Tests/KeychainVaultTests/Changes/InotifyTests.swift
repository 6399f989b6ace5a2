// SPDX-License-Identifier: Apache-2.0
// What the kernel says about folders, read with care.

import Foundation
import KeychainEngine
import Testing

@testable import KeychainVault

#if os(Linux)
    @Suite struct InotifyTests {
        private static func bytes(_ watch: Int32, _ mask: Int32, _ length: UInt32, _ name: [UInt8]) -> [UInt8] {
            [UInt32(bitPattern: watch), UInt32(bitPattern: mask), 0, length].flatMap { word in
                withUnsafeBytes(of: word) { Array($0) }
            } + name
        }

        private static let whole = bytes(3, IN_CREATE, 8, [97, 98, 0, 0, 0, 0, 0, 0])

        @Test func events_ofTheKernel_areRead() {
            let overflow = Self.bytes(-1, IN_Q_OVERFLOW, 0, [])
            #expect(
                Inotify.events(in: (Self.whole + overflow)[...]) == [
                    Inotify.Event(watch: 3, mask: UInt32(IN_CREATE), name: [97, 98]),
                    Inotify.Event(watch: -1, mask: UInt32(IN_Q_OVERFLOW), name: []),
                ])
        }

        @Test(arguments: [UInt32.max, UInt32(Int32.max), 9, 8])
        func event_whoseNameIsCutOff_isNone(_ length: UInt32) {
            let cut = Self.bytes(3, IN_CREATE, length, [97, 98, 0])
            #expect(Inotify.events(in: (Self.whole + cut)[...]).count == 1)
        }

        @Test(arguments: 0..<16) func event_whoseHeaderIsCutOff_isNone(_ length: Int) {
            #expect(Inotify.events(in: Self.whole.prefix(length)).isEmpty)
        }

        @Test func overflow_isNewsOfThePlace() throws {
            let test = try TestVault()
            let inotify = try Inotify(test.location.folder)
            defer { close(inotify.descriptor) }
            var folder = FolderWatch(inotify, test.location)
            try folder.settle()
            let overflow = Inotify.Event(watch: -1, mask: UInt32(IN_Q_OVERFLOW), name: [])
            #expect(folder.news([overflow]) == .place)
            #expect(folder.news([Inotify.Event(watch: 999, mask: .max & ~UInt32(IN_Q_OVERFLOW), name: [])]) == .nothing)
        }

        @Test func watches_ofFoldersThatAreGone_areGivenUp() throws {
            let test = try TestVault()
            try test.engine.add(.genericPassword("exerciser", "alice", value: "v"))
            let inotify = try Inotify(test.location.folder)
            defer { close(inotify.descriptor) }
            var folder = FolderWatch(inotify, test.location)
            for _ in 0..<3 {
                try folder.settle()
                try FileManager.default.moveItem(atPath: test.location.folder, toPath: test.root + "/away")
                try FileManager.default.createDirectory(
                    atPath: test.location.folder, withIntermediateDirectories: false)
                try FileManager.default.removeItem(atPath: test.root + "/away")
            }
            try folder.settle()
            let info = try String(contentsOfFile: "/proc/self/fdinfo/\(inotify.descriptor)", encoding: .utf8)
            let folders = test.location.folder.split(separator: "/").count + 1
            #expect(info.split(separator: "\n").filter { $0.hasPrefix("inotify") }.count == folders)
        }
    }
#endif
