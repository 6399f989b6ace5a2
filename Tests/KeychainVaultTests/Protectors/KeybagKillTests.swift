// SPDX-License-Identifier: Apache-2.0
// Processes killed while they change what opens a vault: it opens with the old secret or the new one, with all its items.

import Foundation
import KeychainEngine
import KeychainTestSupport
import Testing

@testable import KeychainVault

@Suite(.serialized)
struct KeybagKillTests {
    static let items = 20

    /// The calls that change files. `KEYCHAIN_FAULTS=all` tries each of their occurrences, otherwise some.
    static let calls = ["pwrite64", "fdatasync", "fsync", "ftruncate", "unlink"]
    static let stride = ProcessInfo.processInfo.environment["KEYCHAIN_FAULTS"] == "all" ? 1 : 13

    /// What the exerciser changes, and the fewest points at which it can be killed.
    struct Change: CustomTestStringConvertible {
        let name: String
        let points: Int

        var testDescription: String { name }
    }

    static let changes = [
        Change(name: "passphrase", points: 10), Change(name: "add", points: 10), Change(name: "remove", points: 10),
        Change(name: "rotate", points: 40),
    ]

    /// A vault with items in every class, the old passphrase and a key file, closed and locked.
    private static func template() throws -> TestVault {
        let test = try TestVault(.cheap)
        for index in 0..<items {
            var item = Query.genericPassword("s", "\(index)", value: "value \(index)")
            item.attributes[.accessible] = .string(Accessibility.allCases[index % 6].rawValue)
            try test.engine.add(item)
        }
        try test.protect()
        try test.another().addProtector(.keyFile(), authority: .old)
        return test
    }

    @Test(.enabled(if: Programs.strace != nil, "strace cannot trace here"), arguments: changes)
    func change_killedAtAnyWriteCall_leavesTheOldSecretOrTheNewAndEveryItem(_ change: Change) async throws {
        let strace = try #require(Programs.strace)
        let template = try Self.template()
        let points = try await KillPoints(calls: Self.calls, every: Self.stride).count { call, occurrence in
            try await Self.isKilledAndSurvived(at: occurrence, of: call, change, template, strace)
        }
        print("\(change.name): killed at \(points) points")
        // Each change writes and syncs, so that a sample too has a point of both.
        #expect(points >= max(2, change.points / Self.stride))
    }

    /// - Returns: `false` if the change ended before the call occurred that often.
    private static func isKilledAndSurvived(
        at occurrence: Int, of call: String, _ change: Change, _ template: TestVault, _ strace: String
    ) async throws -> Bool {
        let test = try TestVault(.cheap)
        let copy = try ChildProcess.run("/bin/cp", ["-a", template.root + "/.", test.root])
        try #require(copy.status == 0)
        let child = try await onOwnThread {
            try test.exercise(
                ["change", change.name], injecting: "\(call):signal=KILL:when=\(occurrence)", strace: strace)
        }
        let point = "\(change.name), \(call) \(occurrence)"
        let isDone = child.lines.last == "done"
        #expect(try opens(test, isDone: isDone, change.name), "\(point): \(child.output)")
        #expect(try isWhole(test), "\(point)")
        if ["rotate", "remove"].contains(change.name) {
            try test.another().rotate(authority: .old)
            #expect(try isWhole(test), "\(point), rotation finished")
            #expect(try !test.another().status().isRotating, "\(point)")
        }
        try test.forget()
        try #require(child.wasSignalled || child.status == 0, "\(point): \(child.errors)")
        return child.wasSignalled
    }

    /// Whether the vault opens with what has to open it, and unlocks it.
    private static func opens(_ test: TestVault, isDone: Bool, _ change: String) throws -> Bool {
        let old = reason { try test.another().unlock(.old) } == nil
        let new = reason { try test.another().unlock(.new) } == nil
        switch change {
        case "passphrase": return isDone ? new && !old : old != new
        case "add": return isDone ? new && old : old
        default: return old
        }
    }

    private static func isWhole(_ test: TestVault) throws -> Bool {
        let vault = test.another()
        guard try vault.status().damagedCount == 0 else { return false }
        return try (0..<items).allSatisfy {
            try vault.engine.text(.genericPassword("s", "\($0)")) == "value \($0)"
        }
    }
}
