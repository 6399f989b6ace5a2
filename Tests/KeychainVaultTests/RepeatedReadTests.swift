// SPDX-License-Identifier: Apache-2.0
// Values that are read again without a search: only as long as nothing has changed.

import Foundation
import KeychainEngine
import KeychainTestSupport
import SecretMemory
import Synchronization
import Testing

@testable import KeychainVault

/// Reads accounts of one service as KeychainKit does.
private struct Reader: Sendable {
    let vault: Vault

    /// The value, and whether it was found without a search. `nil`: no item.
    func read(_ account: String, in group: String? = nil) throws -> (value: String, isRepeated: Bool)? {
        let name = Array("\(group ?? "-")/\(account)".utf8)
        if let again = name.withUnsafeBytes({ vault.repeated($0, waits: true) }) {
            return (String(decoding: again.value ?? Data(), as: UTF8.self), true)
        }
        let found = try vault.remembering(name) { () throws(KeychainError) in
            var query = Query.genericPassword("exerciser", account).returning(.value)
            if let group { query.attributes[.accessGroup] = .string(group) }
            return FoundOnce(
                try Engine(store: vault).requests.find(query, accessGroups: .unrestricted).first, isOnly: true)
        }
        return found.map { (String(decoding: $0.item.value ?? Data(), as: UTF8.self), false) }
    }

    /// Reads until it is repeated: what is found later than the next check of the files is not remembered.
    func remember(_ account: String) throws {
        for _ in 1...100 where try read(account)?.isRepeated == true { return }
        Issue.record("'\(account)' is searched for each time.")
    }
}

private final class Flag: Sendable {
    private let raised = Atomic(false)

    var isSet: Bool { raised.load(ordering: .relaxed) }

    func set() { raised.store(true, ordering: .relaxed) }
}

struct RepeatedReadTests {
    private let test: TestVault
    private let reader: Reader

    init() throws {
        test = try TestVault(.cheap)
        reader = Reader(vault: test.vault)
        try test.engine.add(Self.item("a", "1"))
    }

    private static func item(_ account: String, _ value: String? = nil) -> Query {
        .genericPassword("exerciser", account, value: value)
    }

    @Test func item_readAgain_isNotSearchedFor() throws {
        #expect(try reader.read("a")?.isRepeated == false)
        let again = try #require(try reader.read("a"))
        #expect(again.value == "1" && again.isRepeated)
    }

    @Test func itemWithoutValue_readAgain_hasNone() throws {
        try test.engine.add(Self.item("empty"))
        try reader.remember("empty")
        #expect(Array("-/empty".utf8).withUnsafeBytes { test.vault.repeated($0, waits: true) }?.value == nil)
    }

    /// What may change the result, and the result afterwards; `nil`: no item.
    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var value: String? = "2"
        let make: @Sendable (TestVault) throws -> Void
    }

    static let changes = [
        Change(testDescription: "updated") { try $0.engine.update(item("a"), value: "2") },
        Change(testDescription: "updated by another session") {
            try Engine(store: $0.another()).update(item("a"), value: "2")
        },
        Change(testDescription: "removed", value: nil) { try $0.engine.delete(item("a")) },
        Change(testDescription: "removed by another process", value: nil) { test in
            let result = try test.exercise("delete", "a")
            #expect(result.output == "done\n")
        },
        Change(testDescription: "removed and added") {
            try $0.engine.delete(item("a"))
            try $0.engine.add(item("a", "2"))
        },
        Change(testDescription: "rotated", value: "1") { try $0.another().rotate() },
        Change(testDescription: "another item saved", value: "1") { try $0.engine.add(item("b", "2")) },
        Change(testDescription: "closed", value: "1") { try $0.vault.close() },
        Change(testDescription: "restored") { test in
            let (backup, other) = (test.root + "/backup", test.another())
            try other.engine.update(item("a"), value: "2")
            _ = try other.backup(to: backup)
            try other.engine.update(item("a"), value: "3")
            _ = try other.restore(from: backup)
            try other.close()
        },
    ]

    @Test(arguments: changes)
    func item_afterAChange_isSearchedForAgain(_ change: Change) throws {
        try reader.remember("a")
        try change.make(test)
        let found = try reader.read("a")
        #expect(found?.value == change.value)
        #expect(found?.isRepeated != true)
        if change.value != nil { try reader.remember("a") }
    }

    @Test func item_afterTheVaultWasLocked_isLocked() throws {
        try test.protect()
        try test.vault.unlock(.old)
        try reader.remember("a")
        try test.another().lock()
        #expect(reason { _ = try reader.read("a") } == .locked)
        try test.vault.unlock(.old)
        #expect(try reader.read("a")?.value == "1")
    }

    @Test func item_afterTheVaultWasUnlockedAgain_isSearchedForAgain() throws {
        try test.protect()
        try test.vault.unlock(.old)
        try reader.remember("a")
        try test.another().lock()
        try test.another().unlock(.old)
        #expect(try reader.read("a")?.isRepeated == false)
    }

    /// Found by the next check of the files, as for every read.
    @Test func item_afterTheFolderWasReplaced_isOfTheNewVault() throws {
        let other = try TestVault(.cheap)
        try other.engine.add(Self.item("a", "2"))
        try other.vault.close()
        try reader.remember("a")
        try FileManager.default.moveItem(atPath: test.location.folder, toPath: test.root + "/old")
        try FileManager.default.moveItem(atPath: other.location.folder, toPath: test.location.folder)
        try FileManager.default.removeItem(atPath: test.location.deviceKeyFile)
        try FileManager.default.moveItem(atPath: other.location.deviceKeyFile, toPath: test.location.deviceKeyFile)
        // The files are checked again after a while, which is over before so many reads are made.
        for _ in 1...1_000_000 where try reader.read("a")?.value == "2" { return }
        Issue.record("The replaced vault is still read.")
    }

    /// A process that is killed while it publishes a change leaves two different copies of the header of the WAL's index. Who comes next
    /// makes the index again, and from an empty WAL it is as before the change.
    @Test func item_removedBeforeTheIndexOfTheWALWentBack_isNotFound() throws {
        try test.vault.close()
        #expect(try reader.read("a")?.value == "1")
        let session = try #require(try test.vault.openSession())
        let index = try #require(try session.reader.use { $0.walIndex })
        let before = WALHeader(index)
        #expect(try test.exercise("delete", "a").output == "done\n")
        try #require(WALHeader(index) != before)
        UnsafeMutableRawPointer(mutating: index).storeBytes(of: 0xFF, toByteOffset: 56, as: UInt8.self)
        _ = try test.exercise("read", "a")
        try #require(WALHeader(index) == before)
        test.vault.lookAgain()
        #expect(try reader.read("a") == nil)
    }

    /// The child has its parent's memory, but not its connections: it would not see what others change.
    @Test func item_rememberedBeforeAFork_isSearchedForByTheChild() throws {
        let output = try test.exercise("fork-and-read-again").output
        #expect(
            output.split(separator: "\n") == [
                "child searches 1", "child repeats 1", "parent repeats 1", "child searches 2", "child 0",
                "parent searches 2", "done",
            ])
    }

    @Test func item_withConstraints_isNeverRemembered() throws {
        let person = Person(saying: "old")
        var item = Self.item("guarded", "1")
        item.accessControl = try AccessControl(.whenUnlocked, flags: .applicationPassword)
        item.context = AuthenticationContext { person }
        try test.engine.add(item)
        for _ in 1...2 {
            let name = Array("-/guarded".utf8)
            let found = try test.vault.remembering(name) { () throws(KeychainError) in
                var query = Self.item("guarded").returning(.value)
                query.context = AuthenticationContext { person }
                return FoundOnce(
                    try test.engine.requests.find(query, accessGroups: .unrestricted).first, isOnly: true)
            }
            #expect(found != nil)
            #expect(name.withUnsafeBytes { test.vault.repeated($0, waits: true) } == nil)
        }
    }

    /// Another one may ask for the user, at each search.
    @Test func item_foundBesideAnother_isNotRemembered() throws {
        let test = try TestVault()
        try test.engine.add(.genericPassword("s", "a", value: "v"))
        let selection = Selection(itemClass: .genericPassword, conditions: [.account: .string("a")])
        let name = Array("s/a".utf8)
        for _ in 1...2 {
            let found = try test.vault.remembering(name) { () throws(KeychainError) in
                let items = try test.vault.select(selection, limit: nil, includingValues: true).items
                return FoundOnce(items.first, isOnly: false)
            }
            #expect(found?.item.value == Data("v".utf8))
            #expect(name.withUnsafeBytes { test.vault.repeated($0, waits: true) } == nil)
        }
    }

    /// The row is not looked for again: what the search has found is all that is remembered.
    @Test func item_withoutWhatTheSearchFound_isNotRemembered() throws {
        let name = Array("-/a".utf8)
        let found = try test.vault.remembering(name) { () throws(KeychainError) in
            let items = try Self.found(in: test.vault, limit: 1, values: true)
            let bare = items.first.map { StoredItem(id: $0.id, version: $0.version, item: $0.item) }
            return FoundOnce(bare, isOnly: true)
        }
        #expect(found?.item.value == Data("1".utf8))
        #expect(name.withUnsafeBytes { test.vault.repeated($0, waits: true) } == nil)
    }

    @Test(arguments: [1, 2, nil])
    func items_foundWithValues_areKeptForTheFirstOneOnly(_ limit: Int?) throws {
        try test.engine.add(Self.item("b", "2"))
        let items = try Self.found(in: test.vault, limit: limit, values: true)
        #expect(items.count { $0.found != nil } == 1)
        #expect(try Self.found(in: test.vault, limit: limit, values: false).allSatisfy { $0.found == nil })
    }

    private static func found(in vault: Vault, limit: Int?, values: Bool) throws(KeychainError) -> [StoredItem] {
        let selection = Selection(itemClass: .genericPassword, conditions: [.service: .string("exerciser")])
        return try vault.select(selection, limit: limit, includingValues: values).items
    }

    @Test func row_thatIsRemembered_isKeptWithoutItsMetadata() throws {
        let cache = ReadCache()
        let page = UnsafeMutableRawBufferPointer.allocate(byteCount: 96, alignment: 8)
        defer { page.deallocate() }
        page.initializeMemory(as: UInt8.self, repeating: 0)
        // Both copies: a version that SQLite knows, and the mark that the index is complete.
        for start in [0, 48] {
            page.storeBytes(of: 3_007_000, toByteOffset: start, as: UInt32.self)
            page[start + 12] = 1
        }
        let end = try #require(page.baseAddress.flatMap { WALHeader($0) })
        let row = SealedRow(
            rowID: 1, id: UUID(), version: 1, keyClass: 6, generation: 1,
            key: KeyDigests(major: Data(count: 16), minor: Data(count: 16), scope: Data(count: 16)),
            metadata: Data(count: 1 << 20), value: Data(count: 100))
        let name = Array("name".utf8)
        cache.store(row, name, end, keys: 1)
        let kept = try #require(name.withUnsafeBytes { cache.row($0, end, keys: 1) })
        #expect(kept.metadata.isEmpty && kept.key == nil)
        #expect(kept.value == row.value)
        #expect(name.withUnsafeBytes { cache.row($0, end, keys: 2) } == nil)
        // What was found to be outdated is gone.
        #expect(name.withUnsafeBytes { cache.row($0, end, keys: 1) } == nil)
    }

    @Test func items_withNamesThatSwiftTakesForEqual_areTwo() throws {
        try test.engine.add(Self.item("e\u{301}", "decomposed"))
        try test.engine.add(Self.item("\u{E9}", "composed"))
        try reader.remember("e\u{301}")
        try reader.remember("\u{E9}")
        #expect(try reader.read("e\u{301}")?.value == "decomposed")
        #expect(try reader.read("\u{E9}")?.value == "composed")
    }

    @Test func item_thatAnotherProgramDamages_isCorrupt() throws {
        try reader.remember("a")
        try PlainDatabase(test.databaseFile).run("UPDATE item SET value = zeroblob(length(value))")
        #expect(reason { _ = try reader.read("a") } == .corrupt)
    }

    @Test func value_tooLongToBeRemembered_isRead() throws {
        let text = String(repeating: "x", count: 5000)
        try test.engine.add(Self.item("long", text))
        for _ in 1...3 {
            let found = try #require(try reader.read("long"))
            #expect(found.value == text && !found.isRepeated)
        }
    }

    @Test func items_moreThanAreRemembered_areAllRead() throws {
        try test.engine.transaction(as: Self.item("many")) { (requests) throws(KeychainError) in
            for number in 0..<2000 {
                try requests.add(Self.item("many-\(number)", "\(number)"), accessGroups: .unrestricted)
            }
        }
        for _ in 1...2 {
            let wrong = try (0..<2000).filter { try reader.read("many-\($0)")?.value != "\($0)" }
            #expect(wrong == [])
        }
    }

    @Test func read_thatMayNotWait_isNotRepeatedOnceTheFilesHaveToBeChecked() throws {
        try reader.remember("a")
        test.vault.lookAgain()
        #expect(Array("-/a".utf8).withUnsafeBytes { test.vault.repeated($0, waits: false) } == nil)
    }

    // MARK: - At once

    private struct OutOfDate: Error {}

    /// One read of a register, with the times at which it began and ended.
    private struct Event: Sendable {
        let account: String
        let value: Int
        let start: UInt64
        let end: UInt64
    }

    /// Each register is written by one process, which counts. A read must not be older than the last value that was acknowledged
    /// before it began, nor newer than the last that was begun before it ended.
    @Test func registers_writtenByOtherProcesses_areNeverReadOutOfDate() throws {
        let accounts = (1...3).map { "register-\($0)" }
        for account in accounts { try test.engine.add(Self.item(account, "0")) }
        let (done, events) = (Flag(), Events())
        let readers = (1...3).map { _ in
            Background { try Self.read(reader, accounts, events) { done.isSet } }
        }
        let writers = try accounts.map { account in
            try ChildProcess(Exerciser.path, test.exerciserArguments(["register", account, "100"])).start()
        }
        let writes = try writers.flatMap { try $0.finish().lines.compactMap(SwarmEvent.init) }
        done.set()
        for reader in readers { #expect(reader.reason() == nil) }
        #expect(writes.count == 300)
        #expect(events.all.count > 30 && events.repetitionCount > 30)
        let histories = Dictionary(grouping: writes, by: \.key)
        let wrong = events.all.filter { !Self.isPossible($0, histories[$0.account] ?? []) }
        #expect(wrong.isEmpty, "\(wrong.prefix(3))")
    }

    private static func isPossible(_ read: Event, _ writes: [SwarmEvent]) -> Bool {
        let least = writes.last { $0.end < read.start }.flatMap { Int($0.value) } ?? 0
        let most = writes.last { $0.start <= read.end }.flatMap { Int($0.value) } ?? 0
        return (least...max(least, most)).contains(read.value)
    }

    /// Adds the first and the last of successive reads of the same value: those between are neither older than the one, nor newer than
    /// the other.
    private static func read(
        _ reader: Reader, _ accounts: [String], _ events: Events, until isDone: () -> Bool
    ) throws {
        var last: [String: Event] = [:]
        while !isDone() {
            for account in accounts {
                let start = DispatchTime.now().uptimeNanoseconds
                let found = try reader.read(account)
                let end = DispatchTime.now().uptimeNanoseconds
                let value = try #require(Int(found?.value ?? ""))
                let event = Event(account: account, value: value, start: start, end: end)
                if found?.isRepeated == true { events.countRepetition() }
                if let previous = last.updateValue(event, forKey: account) {
                    if previous.value == value { continue }
                    guard value > previous.value else { throw OutOfDate() }
                    events.add(previous)
                }
                events.add(event)
            }
        }
        for event in last.values { events.add(event) }
    }

    /// What all readers saw.
    private final class Events: Sendable {
        private let events = Mutex<[Event]>([])
        private let repetitions = Atomic(0)

        var all: [Event] { events.withLock { $0 } }
        /// How many reads were made without a search.
        var repetitionCount: Int { repetitions.load(ordering: .relaxed) }

        func countRepetition() { repetitions.add(1, ordering: .relaxed) }

        func add(_ event: Event) { events.withLock { $0.append(event) } }
    }

    @Test func vault_closedAndLockedWhileThreadsRead_givesTheValueOrSaysThatItIsLocked() throws {
        try test.protect()
        try test.vault.unlock(.old)
        let done = Flag()
        let readers = (1...3).map { _ in
            Background {
                while !done.isSet {
                    do {
                        guard try reader.read("a")?.value == "1" else { throw OutOfDate() }
                    } catch let error as KeychainError where error.reason == .locked {
                        continue
                    }
                }
            }
        }
        for round in 0..<12 {
            if round % 2 == 0 { try test.vault.close() } else { try test.vault.lock() }
            try test.vault.unlock(.old)
        }
        done.set()
        for reader in readers { #expect(reader.reason() == nil) }
    }
}
