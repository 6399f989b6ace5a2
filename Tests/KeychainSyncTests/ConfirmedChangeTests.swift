// SPDX-License-Identifier: Apache-2.0
// Confirmed changes of vaults: what is made, what is not, and what a failure says.

import Foundation
import KeychainEngine
import KeychainKit
import KeychainSyncCore
import KeychainTestSupport
import KeychainTesting
import KeychainVault
import SecretMemory
import Testing

@testable import KeychainSync

@Suite(.timeLimit(.minutes(60)))
struct ConfirmedChangeTests {
    private let folder: TemporaryFolder
    private let place: CarrierPlace
    private let folders = ConfirmingFolders()
    private let clock = TestClock()

    init() throws {
        folder = try TemporaryFolder("keychain-confirmed")
        place = .folder(folder.path + "/shared")
        try FileManager.default.createDirectory(atPath: folder.path + "/shared", withIntermediateDirectories: false)
    }

    private func founder() async throws -> Machine {
        let laptop = try Machine(folder.path, "laptop", kinds: [folders])
        _ = try await laptop.member.found(name: "laptop", at: place)
        return laptop
    }

    private func pair() async throws -> (Machine, Machine) {
        let (laptop, desktop) = (try await founder(), try Machine(folder.path, "desktop", kinds: [folders]))
        try await laptop.admit(desktop, at: place)
        return (laptop, desktop)
    }

    private func store(
        _ machine: Machine, keepsUnconfirmed: Bool = true, synchronizable: Bool = true
    ) -> SecretStore {
        let confirming = KeychainSync(machine.member, clock: clock)
            .confirming(within: .seconds(600), keepsUnconfirmed: keepsUnconfirmed)
        var store = SecretStore(service: "s", synchronizable: synchronizable, store: machine.vault).through(confirming)
        store.timeout = Timeout(operation: .seconds(900))
        return store
    }

    private func failure<Result>(
        _ call: () async throws -> Result, _ location: SourceLocation = #_sourceLocation
    ) async throws -> KeychainError {
        let error = await #expect(throws: KeychainError.self, sourceLocation: location) { _ = try await call() }
        return try #require(error)
    }

    /// A program that counts must not be told that nothing was changed.
    @Test(arguments: [false, true], [CarrierFailure.Reason.denied, .full])
    func change_whoseAnswerWasLost_isUndecidedAlsoIfItIsRefusedThen(
        keepsUnconfirmed: Bool, reason: CarrierFailure.Reason
    ) async throws {
        let laptop = try await founder()
        try await store(laptop).save(0, for: "count")
        let refusals = [ConfirmingFolders.Answer](repeating: .fails(CarrierFailure(reason, "No.")), count: 8)
        folders.script.withLock { $0.answers = [.saysNothingAndKeeps] + refusals }
        let error = try await failure {
            try await store(laptop, keepsUnconfirmed: keepsUnconfirmed).update(Int.self, for: "count") { $0! += 1 }
        }
        #expect(error.reason == .timedOut)
        folders.script.withLock { $0.answers = [] }
        try await laptop.exchange()
        #expect(try laptop.items() == ["count=1"])
        #expect(try await laptop.member.status().conflicts == 0)
    }

    // MARK: - What is made

    /// The member that has removed a machine has not made new keys yet.
    @Test func save_confirmedAfterARemovalWithoutNewKeys_isSealedWithNewOnes() async throws {
        let (laptop, desktop) = try await pair()
        try await laptop.exchange()
        let state = try #require(laptop.member.known)
        let (replica, gone) = (state.replica, try #require(desktop.member.known).replica.member)
        let entry = try RingEntry(
            ring: replica.log.id, parents: replica.log.tips, author: replica.member,
            action: .remove([Removal(member: gone, cuts: [:])])
        ).signed(by: replica.keys)
        let sealed = try entry.sealed(with: replica.keyring.ring)
        _ = try await laptop.member.carrier(of: state).publish(.entry(entry.hash), sealed, beside: false)
        try await store(laptop).save(1, for: "count")
        let ring = try #require(laptop.member.known).replica.ring
        #expect(ring.active.map(\.id) == [replica.member])
        #expect(ring.current.number == replica.ring.current.number + 1)
        #expect(!ring.isCurrentKnownToRemoved)
    }

    /// A removal that its target has undone. Whichever machine is stolen: nothing is sealed for it until a person has decided.
    @Test func save_confirmedWhileAMachineIsUndecided_isRefused_andNothingChanges() async throws {
        let (laptop, desktop) = try await pair()
        let server = try Machine(folder.path, "server", kinds: [folders])
        try await laptop.admit(server, at: place)
        for machine in [desktop, laptop, desktop, server] { try await machine.exchange() }
        var report = ExchangeReport()
        func replica(_ machine: Machine) async throws -> Replica {
            try await machine.member.take(&report) { _, _ in [] }.state.replica
        }
        var (stolen, other) = (try await replica(laptop), try await replica(desktop))
        let (thief, remover) = (stolen.member, other.member)
        let carrier = try laptop.member.carrier(of: try #require(laptop.member.known))
        let effects =
            try stolen.remove([remover], at: RingMember.systemTime())
            + other.remove([thief], at: RingMember.systemTime())
        for case .write(let name, let bytes) in effects { _ = try await carrier.publish(name, bytes, beside: false) }
        let failure = try await failure {
            try await store(server, keepsUnconfirmed: false).save("1", for: "a")
        }
        #expect(failure.reason == .unavailable && failure.message.contains("for you to decide"))
        #expect(try server.items().isEmpty)
    }

    @Test func save_confirmed_isHereAndOnTheCarrier() async throws {
        let (laptop, desktop) = try await pair()
        try await store(laptop).save("1", for: "a")
        #expect(try laptop.items() == ["a=1"])
        #expect(try await laptop.member.status().pending == 0)
        try await desktop.exchange()
        #expect(try desktop.items() == ["a=1"])
        let code = try await laptop.member.status().compareCode
        #expect(try await desktop.member.status().compareCode == code)
    }

    @Test func changeAfterAnUnsentOne_sendsThatFirst() async throws {
        let (laptop, desktop) = try await pair()
        try laptop.add("a", "1")
        try await store(laptop).save("2", for: "a")
        try await desktop.exchange()
        #expect(try desktop.items() == ["a=2"])
        #expect(try await desktop.member.status().conflicts == 0)
    }

    @Test func transactionAndRemoval_confirmed_areWhole() async throws {
        let (laptop, desktop) = try await pair()
        try await store(laptop).save("1", for: "old")
        try await store(laptop).transaction { transaction in
            guard let value = try await transaction.read(String.self, for: "old") else { return }
            try transaction.save(value, for: "new")
            try transaction.save(value, for: "newer")
            transaction.remove(for: "old")
        }
        try await desktop.exchange()
        #expect(try desktop.items() == ["new=1", "newer=1"])
        #expect(try await store(desktop).remove(for: "new"))
        try await laptop.exchange()
        #expect(try laptop.items() == ["newer=1"])
    }

    @Test func changeOfAnotherMachineThatWasFaster_isSeenFirst() async throws {
        let (laptop, desktop) = try await pair()
        try await store(laptop).save(10, for: "count")
        try await desktop.exchange()
        let (there, here) = (store(desktop), store(laptop))
        // Its own turn is at another vault.
        folders.script.withLock { $0.meanwhile = { try await there.update(Int.self, for: "count") { $0! += 1 } } }
        try await here.update(Int.self, for: "count") { $0! += 1 }
        #expect(try await here.read(Int.self, for: "count") == 12)
        try await desktop.exchange()
        #expect(try desktop.items() == ["count=12"])
    }

    @Test func changesOfAnotherMachineBesideEachListing_areCaughtUpWith() async throws {
        let (laptop, desktop) = try await pair()
        // More than one exchange fetches.
        let numbers = Guarded(100..<120)
        folders.script.withLock { script in
            script.besideListings = (
                20,
                {
                    try desktop.add("a\(numbers.withLock { $0.removeFirst() })", "1")
                    try await desktop.exchange()
                }
            )
        }
        try await store(laptop).save("2", for: "a100")
        #expect(try laptop.items() == ["a100=2"] + (101..<120).map { "a\($0)=1" })
        #expect(try await laptop.member.status().conflicts == 0)
    }

    @Test func changeOfAnotherMachineThatIsMissing_isSaid_andNothingChanges() async throws {
        let (laptop, desktop) = try await pair()
        let ring = try #require(try await folders.rings(at: place).first)
        let carrier = try folders.carrier(of: ring, at: place)
        let before = try await carrier.list().names
        for account in ["a", "b"] {
            try desktop.add(account, "1")
            try await desktop.exchange()
        }
        let segments = try await carrier.list().names.subtracting(before).sorted().filter {
            if case .segment = $0 { true } else { false }
        }
        #expect(segments.count == 2)
        try await carrier.remove([segments[0]])
        let error = try await failure { try await store(laptop, keepsUnconfirmed: false).save("1", for: "c") }
        #expect(error.reason == .unavailable)
        #expect(error.message.contains("cannot be applied on this machine now"))
        #expect(try laptop.items().isEmpty)
    }

    @Test func ordinaryChangeOfAnotherMachine_countsToo() async throws {
        let (laptop, desktop) = try await pair()
        try laptop.add("a", "1")
        try await laptop.exchange()
        try await desktop.exchange()
        folders.script.withLock {
            $0.meanwhile = {
                try desktop.update("a", "2")
                try await desktop.exchange()
            }
        }
        try await store(laptop).update(String.self, for: "a") { $0! += "+" }
        #expect(try laptop.items() == ["a=2+"])
    }

    @Test func itemThatAnotherMachineCreated_isADuplicate() async throws {
        let (laptop, desktop) = try await pair()
        try await store(desktop).create("desktop", for: "a")
        let error = try await failure { try await store(laptop).create("laptop", for: "a") }
        #expect(error.reason == .duplicateItem)
        #expect(try laptop.items() == ["a=desktop"])
    }

    /// Once there was a number that was too high: it can come from anybody who can answer for the etcd once.
    @Test func revisionThatIsNeverReachedAgain_isForgottenWithItsNotice() async throws {
        let laptop = try await founder()
        func isSaid() async throws -> Bool {
            try await laptop.member.status().notices.contains { $0.kind == NoticeKind.rolledBack.rawValue }
        }
        for revision: UInt64 in [1 << 62, 5] {
            folders.script.withLock { $0.revision = revision }
            for _ in 0..<2 { try await laptop.exchange() }
        }
        #expect(try await isSaid())
        #expect(try await laptop.member.dismissNotices().count == 1)
        try await laptop.exchange()
        #expect(try await !isSaid())
        folders.script.withLock { $0.revision = 4 }
        try await laptop.exchange()
        #expect(try await isSaid())
    }

    @Test func observers_hearOfAConfirmedChange() async throws {
        let laptop = try await founder()
        let plain = SecretStore(service: "s", synchronizable: true, store: laptop.vault)
        var changes = try await plain.changes(for: "a").makeAsyncIterator()
        try await store(laptop).save("1", for: "a")
        #expect(await changes.next() != nil)
    }

    // MARK: - What is not made

    @Test func folder_isUnsupported_andNothingChanges() async throws {
        let laptop = try Machine(folder.path, "laptop")
        _ = try await laptop.member.found(name: "laptop", at: place)
        let error = try await failure { try await store(laptop).save("1", for: "a") }
        #expect(error.reason == .unsupported)
        #expect(try laptop.items().isEmpty)
    }

    @Test func machineThatOnlyReads_isRefused_andNothingChanges() async throws {
        let (laptop, server) = (try await founder(), try Machine(folder.path, "server", kinds: [folders]))
        try await laptop.admit(server, at: place, as: .reader)
        let error = try await failure { try await store(server).save("1", for: "a") }
        #expect(error.reason == .missingEntitlement)
        #expect(try server.items().isEmpty)
    }

    @Test func vaultInNoRing_isUnavailable_andNothingChanges() async throws {
        let alone = try Machine(folder.path, "alone", kinds: [folders])
        let error = try await failure { try await store(alone).save("1", for: "a") }
        #expect(error.reason == .unavailable)
        #expect(try alone.items().isEmpty)
    }

    @Test func itemThatIsNotShared_isRefused() async throws {
        let laptop = try await founder()
        for call: @Sendable () async throws -> Void in [
            { try await store(laptop, synchronizable: false).save("1", for: "a") },
            {
                var store = store(laptop)
                store.accessibility = .whenUnlockedThisDeviceOnly
                try await store.save("1", for: "a")
            },
        ] {
            #expect(try await failure { try await call() }.reason == .invalidParameter)
        }
        try await SecretStore(service: "s", store: laptop.vault).save("1", for: "local")
        let removal = try await failure {
            try await store(laptop, synchronizable: false).remove(for: "local")
        }
        #expect(removal.reason == .invalidParameter)
        #expect(try await SecretStore(service: "s", store: laptop.vault).contains(for: "local"))
    }

    @Test func changeOfMoreThanAMegabyte_isRefused() async throws {
        let laptop = try await founder()
        let large = String(repeating: "0123456789abcdef", count: 80_000)
        #expect(try await failure { try await store(laptop).save(large, for: "a") }.reason == .tooLarge)
        let half = String(large.prefix(700_000))
        let both = try await failure {
            try await store(laptop).transaction { (transaction) async throws in
                for account in ["a", "b"] { try transaction.save(half, for: account) }
            }
        }
        #expect(both.reason == .tooLarge)
        #expect(try laptop.items().isEmpty)
    }

    @Test func closureThatThrows_changesNothing() async throws {
        let laptop = try await founder()
        await #expect(throws: CancellationError.self) {
            try await store(laptop).update(String.self, for: "a") { _ in throw CancellationError() }
        }
        #expect(try laptop.items().isEmpty)
        #expect(folders.script.withLock { $0.confirmedCount } == 0)
    }

    @Test func machineThatIsNeverFirst_isTold_andNothingChanges() async throws {
        let laptop = try await founder()
        folders.script.withLock { $0.answers = Array(repeating: .refuses, count: 1000) }
        #expect(try await failure { try await store(laptop).save("1", for: "a") }.reason == .busy)
        #expect(try laptop.items().isEmpty)
    }

    @Test func carrierThatRefusesForGood_isNamed_andNothingChanges() async throws {
        let laptop = try await founder()
        folders.script.withLock { $0.answers = [.fails(CarrierFailure(.full, "It is full."))] }
        #expect(try await failure { try await store(laptop).save("1", for: "a") }.reason == .diskFull)
        #expect(try laptop.items().isEmpty)
    }

    // MARK: - Without the carrier

    private static let offline = ConfirmingFolders.Answer.fails(CarrierFailure(.unavailable, "Nobody is there."))

    @Test func save_offline_failsAndStaysHere_andGoesOutLater() async throws {
        let (laptop, desktop) = try await pair()
        folders.script.withLock { $0.listings = [Self.offline] }
        let error = try await failure { try await store(laptop).save("1", for: "a") }
        #expect(error.reason == .unavailable)
        #expect(error.message.contains("Nobody is there.") && error.message.contains("kept on this machine"))
        #expect(try laptop.items() == ["a=1"])
        try await laptop.exchange()
        try await desktop.exchange()
        #expect(try desktop.items() == ["a=1"])
    }

    @Test func save_offlineThatIsNotToBeKept_changesNothing() async throws {
        let laptop = try await founder()
        folders.script.withLock { $0.listings = [Self.offline] }
        let error = try await failure { try await store(laptop, keepsUnconfirmed: false).save("1", for: "a") }
        #expect(error.reason == .unavailable)
        #expect(error.message.contains("Nothing was changed."))
        #expect(try laptop.items().isEmpty)
    }

    @Test func save_whilePaused_failsAndStaysHere() async throws {
        let laptop = try await founder()
        try await laptop.sync.pause()
        #expect(try await failure { try await store(laptop).save("1", for: "a") }.reason == .unavailable)
        #expect(try laptop.items() == ["a=1"])
    }

    // MARK: - When the time is over

    @Test func time_thatPassesBeforeAnyAnswer_isUnavailable() async throws {
        let laptop = try await founder()
        folders.script.withLock { $0.listings = [.isSilent] }
        let call = Task { try await store(laptop).save("1", for: "a") }
        await clock.untilSleeping()
        clock.advance(by: .seconds(601))
        #expect(try await failure { try await call.value }.reason == .unavailable)
        #expect(try laptop.items() == ["a=1"])
    }

    @Test func time_thatPassesAfterARefusal_isTimedOut_andNothingChanges() async throws {
        let laptop = try await founder()
        folders.script.withLock { script in
            script.answers = [.refuses]
            script.meanwhile = { folders.script.withLock { $0.listings = [.isSilent] } }
        }
        let call = Task { try await store(laptop).save("1", for: "a") }
        await clock.untilSleeping()
        try await yieldUntil("the second listing has begun") {
            folders.script.withLock { $0.answers.isEmpty && $0.listings.isEmpty }
        }
        clock.advance(by: .seconds(601))
        let error = try await failure { try await call.value }
        #expect(error.reason == .timedOut && error.message.contains("Nothing was changed."))
        #expect(try laptop.items().isEmpty)
    }

    @Test(arguments: [true, false])
    func time_thatPassesWithoutAnAnswer_isUndecided_andTheNextExchangeTells(_ isMade: Bool) async throws {
        let (laptop, desktop) = try await pair()
        folders.script.withLock { $0.answers = [isMade ? .saysNothingAndKeeps : .saysNothing, .isSilent] }
        let call = Task { try await store(laptop).save("1", for: "a") }
        await clock.untilSleeping()
        try await yieldUntil("it was sent twice") { folders.script.withLock { $0.answers.isEmpty } }
        clock.advance(by: .seconds(601))
        let error = try await failure { try await call.value }
        #expect(error.reason == .timedOut && error.message.contains("not known"))
        #expect(try laptop.items().isEmpty)
        let report = try await laptop.exchange()
        #expect(!report.tellsOfACopy)
        try await desktop.exchange()
        for machine in [laptop, desktop] { #expect(try machine.items() == (isMade ? ["a=1"] : [])) }
    }

    @Test func answersThatAreLost_areAskedForAgain_andItIsMadeOnce() async throws {
        let laptop = try await founder()
        try await store(laptop).save(0, for: "count")
        folders.script.withLock { $0.answers = [.saysNothingAndKeeps, .saysNothing] }
        try await store(laptop).update(Int.self, for: "count") { $0! += 1 }
        #expect(try laptop.items() == ["count=1"])
    }

    @Test func answersThatAreAllLost_endUndecided() async throws {
        let laptop = try await founder()
        folders.script.withLock { $0.answers = Array(repeating: .saysNothing, count: 100) }
        #expect(try await failure { try await store(laptop).save("1", for: "a") }.reason == .timedOut)
    }

    @Test func cancelledCall_changesNothing() async throws {
        let laptop = try await founder()
        folders.script.withLock { $0.listings = [.isSilent] }
        let call = Task { try await store(laptop).save("1", for: "a") }
        await clock.untilSleeping()
        call.cancel()
        #expect(try await failure { try await call.value }.reason == .cancelled)
        clock.advance(by: .seconds(601))
        let lock = try await laptop.member.blocking { [vault = laptop.vault] () throws(KeychainError) in
            try vault.lockForSync(.seconds(600))
        }
        withExtendedLifetime(lock) {}
        #expect(try laptop.items().isEmpty)
    }

    // MARK: - A carrier that lies

    @Test func carrierThatRefusesAndKeeps_hasMadeItOnce() async throws {
        let (laptop, desktop) = try await pair()
        try await store(laptop).save(0, for: "count")
        folders.script.withLock { $0.answers = [.refusesAndKeeps] }
        try await store(laptop).update(Int.self, for: "count") { $0! += 1 }
        try await desktop.exchange()
        for machine in [laptop, desktop] { #expect(try machine.items() == ["count=1"]) }
        let name = ObjectName.segment(try #require(laptop.member.known).replica.confirmer, 2)
        #expect(try await laptop.exchange().findings == [.shownAfterRefusal(name)])
    }

    @Test func refusedChange_shownAfterTheNextOne_isTheCarriersDoing_andNoCopy() async throws {
        let (laptop, desktop) = try await pair()
        folders.script.withLock { $0.answers = [.refuses, .fails(CarrierFailure(.full, "It is full."))] }
        #expect(try await failure { try await store(laptop).save("1", for: "a") }.reason == .diskFull)
        try await store(laptop).save("2", for: "a")
        try await desktop.exchange()
        let (name, bytes) = try #require(folders.script.withLock { $0.refused.first })
        let ring = try #require(laptop.member.known).replica.log.id
        _ = try await FolderCarrier(place.address, ring: ring).publish(name, bytes, beside: true)
        // Another process says the same.
        for machine in [laptop, try Machine(folder.path, "laptop", kinds: [folders])] {
            let report = try await machine.exchange()
            #expect(report.findings == [.shownAfterRefusal(name)])
        }
        #expect(try await desktop.exchange().tellsOfACopy)
        try laptop.add("b", "1")
        try await laptop.exchange()
        try await desktop.exchange()
        #expect(try desktop.items() == ["a=2", "b=1"])
    }
}
