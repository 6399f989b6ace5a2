// SPDX-License-Identifier: Apache-2.0
// Observers are told of every change of items, by whatever process.

import Foundation
import KeychainEngine
import KeychainTestSupport
import Testing

@testable import KeychainVault

@Suite struct ObservationTests {
    private static func vaultWithItem() throws -> TestVault {
        let test = try TestVault()
        try test.engine.add(.genericPassword("exerciser", "alice", value: "old"))
        return test
    }

    @Test func change_inTheSameProcess_isTold() throws {
        let test = try Self.vaultWithItem()
        let watcher = try test.watcher(of: "alice")
        try test.engine.update(.genericPassword("exerciser", "alice"), value: "new")
        #expect(watcher.sees { $0 == "new" })
    }

    @Test func change_byAnotherProcess_isTold() throws {
        let test = try Self.vaultWithItem()
        let watcher = try test.watcher(of: "bob")
        #expect(try test.exercise("add", "bob", "b").lines == ["done"])
        #expect(watcher.sees { $0 == "b" })
        #expect(try test.exercise("delete", "bob").lines == ["done"])
        #expect(watcher.sees { $0 == nil })
    }

    @Test func lastChangeOfABurst_byAnotherProcess_isTold() throws {
        let test = try TestVault()
        let watcher = try test.watcher(of: "account-12")
        #expect(try test.exercise("script", "14").lines.count == 14)
        #expect(watcher.sees { $0 == "value-12" })
        #expect(try test.exercise("update", "account-12", "last").lines == ["done"])
        #expect(watcher.sees { $0 == "last" })
    }

    @Test func changedProtectors_areTold() throws {
        let test = try Self.vaultWithItem()
        let vault = test.vault
        let watcher = try Watcher(vault) { try vault.status().slots.count }
        try test.another().addProtector(.old)
        #expect(watcher.sees { $0 == 2 })
    }

    @Test func rotation_isTold() throws {
        let test = try Self.vaultWithItem()
        let vault = test.vault
        let watcher = try Watcher(vault) { try vault.currentSession().keybag.keys.map(\.generation).max() }
        try test.another().rotate()
        #expect(watcher.sees { $0 == 2 })
    }

    @Test func writer_killedInTheMidstOfAChange_isTold() throws {
        let test = try Self.vaultWithItem()
        let watcher = try Watcher(test.vault) {}
        let writer = try test.running("add-and-wait", "bob")
        #expect(writer.line() == "inside")
        #expect(watcher.calls == 0)
        writer.kill()
        #expect(watcher.sees { _ in true })
    }

    @Test func observer_thatHasGone_isToldNoMore() throws {
        let test = try Self.vaultWithItem()
        let (ended, going) = (try Watcher(test.vault) {}, try test.watcher(of: "alice"))
        ended.end()
        try test.engine.update(.genericPassword("exerciser", "alice"), value: "new")
        #expect(going.sees { $0 == "new" })
        #expect(ended.calls == 0)
    }

    @Test func observer_whileAnotherOfTheVaultGoes_isToldStill() throws {
        let test = try Self.vaultWithItem()
        let (ended, going) = (try Watcher(test.vault) {}, try test.watcher(of: "alice"))
        ended.end()
        #expect(try test.exercise("update", "alice", "new").lines == ["done"])
        #expect(going.sees { $0 == "new" })
    }

    @Test func observer_thatBeginsAgainAfterTheLast_isTold() throws {
        let test = try Self.vaultWithItem()
        try test.watcher(of: "alice").end()
        let watcher = try test.watcher(of: "alice")
        #expect(try test.exercise("update", "alice", "new").lines == ["done"])
        #expect(watcher.sees { $0 == "new" })
    }

    @Test func observer_thatWritesAndReads_isNotInItsOwnWay() throws {
        let test = try Self.vaultWithItem()
        let engine = test.engine
        let watcher = try Watcher(test.vault) {
            try engine.add(.genericPassword("observer", UUID().uuidString, value: "v"))
            let all = Query(.genericPassword, [.service: .string("observer")]).returning(.attributes, limit: .all)
            guard case .many(let found) = try engine.copyMatching(all, accessGroups: .unrestricted) else { return 0 }
            return found.count
        }
        try engine.update(.genericPassword("exerciser", "alice"), value: "new")
        // Its own writes are changes too.
        #expect(watcher.sees { $0 >= 5 })
        watcher.end()
    }

    @Test func readers_thatComeAndGo_areNoChange() throws {
        let test = try Self.vaultWithItem()
        let watcher = try Watcher(test.vault) { try test.reopened().text(.genericPassword("exerciser", "alice")) }
        for _ in 0..<50 { _ = try test.reopened().text(.genericPassword("exerciser", "alice")) }
        try test.reopened().update(.genericPassword("exerciser", "alice"), value: "new")
        #expect(watcher.sees { $0 == "new" })
        #expect(watcher.calls < 10)
    }

    @Test func observer_thatIsBusy_isToldOnceOfManyChanges() throws {
        let test = try Self.vaultWithItem()
        let (engine, gate) = (test.engine, DispatchSemaphore(value: 0))
        let watcher = try Watcher(test.vault) {
            guard gate.wait(timeout: .now() + 600) == .success else { throw CocoaError(.fileReadUnknown) }
            gate.signal()
            return try engine.text(.genericPassword("exerciser", "alice"))
        }
        for number in 1...100 { try engine.update(.genericPassword("exerciser", "alice"), value: "\(number)") }
        gate.signal()
        #expect(watcher.sees { $0 == "100" })
        #expect(watcher.calls < 20)
    }
}
