// SPDX-License-Identifier: Apache-2.0
// Addresses, keys and answers of etcd, without an etcd.

import Foundation
import Testing

@testable import KeychainSync
@testable import KeychainSyncCore
@testable import KeychainSyncEtcd

struct EtcdMessageTests {
    private func place(_ addresses: String = "https://etcd.example.com:2379") throws -> EtcdPlace {
        EtcdPlace(endpoints: try EtcdPlace.endpoints(addresses))
    }

    // MARK: - Addresses

    @Test(arguments: [
        ("https://etcd.example.com", "https://etcd.example.com:2379"), ("http://127.0.0.1:9/", "http://127.0.0.1:9"),
        ("https://[fe80::1]:2380", "https://[fe80::1]:2380"), ("http://localhost:1", "http://localhost:1"),
    ])
    func address_isRead(_ text: String, _ expected: String) throws {
        #expect(try EtcdEndpoint(text).text == expected)
    }

    @Test(arguments: [
        "", "etcd.example.com", "ftp://a", "https://", "https://:2379", "https://a:0", "https://a:65536", "https://a:x",
        "https://a/path", "https://user:secret@a", "https://a?b", "https://a#b", "https://a b", "https://[::1",
        "https://[]",
        "https://a\n", "https://a:2379:1", "https://a%00", "https://a\u{301}",
    ])
    func addressThatIsNone_isRefusedAndNotRepeated(_ text: String) {
        let error = #expect(throws: CarrierFailure.self) { _ = try EtcdEndpoint(text) }
        #expect(error?.reason == .unusable)
        #expect(error?.message.contains("secret") == false)
    }

    @Test(arguments: [
        "http://10.0.0.1:2379", "http://127.evil.example:1", "http://127.0.0.1.example:1", "http://localhost.example",
    ])
    func addressWithoutTLS_ofAnotherMachine_needsPermission(_ text: String) throws {
        var place = try place(text)
        #expect(throws: CarrierFailure.self) { try place.check() }
        place.allowsHTTP = true
        try place.check()
    }

    @Test(arguments: ["http://127.0.0.1:1", "http://127.3.2.1:1", "http://localhost:1", "http://[::1]:1"])
    func addressWithoutTLS_ofThisMachine_needsNone(_ text: String) throws { try place(text).check() }

    // MARK: - The stored form

    @Test func place_storedAndRead_isTheSame() throws {
        var place = try place("https://a:1,https://b:2")
        (place.user, place.password, place.prefix) = ("u=v", "p=\n\"", "/team/")
        (place.authorities, place.certificate, place.key) = ("/ca", "/cert", "/key")
        let stored = try #require(CarrierPlace(stored: place.place.stored))
        #expect(try EtcdPlace(stored) == place)
    }

    @Test func password_isInNoTextOfThePlace() throws {
        var etcd = try place()
        (etcd.user, etcd.password) = ("user", "hunter2")
        var dumped = ""
        dump(etcd.place, to: &dumped)
        for text in [etcd.place.text, "\(etcd.place)", String(reflecting: etcd.place), dumped] {
            #expect(!text.contains("hunter2"))
        }
        #expect(etcd.place.text == "etcd:https://etcd.example.com:2379")
    }

    @Test func placeOfANewerVersion_isRefused() throws {
        let place = CarrierPlace(scheme: "etcd", address: "https://a:1", details: ["lease=1"])
        #expect(throws: CarrierFailure.self) { _ = try EtcdPlace(place) }
    }

    @Test func partsThatDoNotGoTogether_areRefused() throws {
        let broken: [(inout EtcdPlace) -> Void] = [
            { $0.certificate = "/c" }, { $0.key = "/k" }, { $0.user = "u" }, { $0.password = "p" },
            { $0.prefix = "team" },
            { $0.prefix = "/team" }, { $0.prefix = "/te am/" },
        ]
        for change in broken {
            var place = try place()
            change(&place)
            #expect(throws: CarrierFailure.self) { try place.check() }
        }
    }

    // MARK: - Keys

    @Test(arguments: FolderCarrierTests.names)
    func key_ofAnObject_isReadAgain(_ name: ObjectName) throws {
        let key = EtcdKey(name, Data("an object".utf8))
        #expect(EtcdKey(key.text[...].utf8) == key)
        let keys = EtcdKeys("/", RingID(Data(repeating: 7, count: 32)))
        #expect(keys.object(keys.key(key)) == key)
        let range = keys.range(of: name)
        #expect(!keys.key(key).lexicographicallyPrecedes(range.first))
        #expect(keys.key(key).lexicographicallyPrecedes(range.end))
    }

    @Test(arguments: [
        "", "-00000000-000001", "l/1-00000000-000001", "l/0000000000000005/0000000000000009",
        "l/0000000000000005/0000000000000009-0000000g-000001", "l/0000000000000005/0000000000000009-00000000-000000",
        "l/0000000000000005/0000000000000009-00000000-ffffff", "l/0000000000000005/0000000000000009-0000000A-000001",
        "l/0000000000000005/0000000000000009-+0000000-000001", "t/0000000000000005",
    ])
    func keyOfNoObject_isPassedOver(_ text: String) { #expect(EtcdKey(text[...].utf8) == nil) }

    // MARK: - Answers

    @Test func json_thatIsTooDeepOrHasTooManyValues_isNotDecoded() {
        let deep = String(repeating: "[", count: 17) + String(repeating: "]", count: 17)
        #expect(!JSONBounds.hold(Data(deep.utf8)))
        #expect(JSONBounds.hold(Data(deep.dropFirst().dropLast().utf8)))
        #expect(JSONBounds.hold(Data(("\"" + String(repeating: "[\\\"", count: 100) + "\"").utf8)))
        #expect(!JSONBounds.hold(Data(("[0" + String(repeating: ",0", count: 600_000) + "]").utf8)))
        #expect(!JSONBounds.hold(Data(count: JSONBounds.body + 1)))
    }

    @Test(arguments: [
        (7, "etcdserver: permission denied", EtcdRefusal.denied),
        (16, "etcdserver: invalid auth token", .invalidToken),
        (3, "etcdserver: authentication failed, invalid user ID or password", .wrongPassword),
        (3, "etcdserver: user name is empty", .userMissing), (14, "etcdserver: no leader", .unavailable),
        (3, "etcdserver: revision of auth store is old", .invalidToken),
        (11, "etcdserver: mvcc: required revision has been compacted", .compacted),
        (11, "etcdserver: mvcc: required revision is a future revision", .futureRevision),
        (8, "etcdserver: mvcc: database space exceeded", .full), (3, "etcdserver: request is too large", .tooLarge),
        (8, "etcdserver: too many requests", .unavailable), (12, "", .other(12)),
    ])
    func refusal_isTold(_ code: Int, _ message: String, _ refusal: EtcdRefusal) throws {
        let text = "{\"error\":\"\(message)\",\"message\":\"\(message)\",\"code\":\(code)}"
        #expect(try #require(EtcdJSON.decode(ErrorAnswer.self, Data(text.utf8))).refusal == refusal)
    }
}

#if Etcd
    struct WatchProgressTests {
        private var progress = WatchProgress()

        /// One more would be none.
        @Test func revision_thatNoEtcdGetsTo_isNoAnswer() {
            let text = "{\"result\":{\"header\":{\"revision\":\"18446744073709551615\"},\"created\":true}}"
            #expect(EtcdJSON.decode(WatchLine.self, Data(text.utf8)) == nil)
        }

        private mutating func take(_ text: String) throws -> WatchProgress.Step {
            progress.take(try #require(EtcdJSON.decode(WatchLine.self, Data(text.utf8))))
        }

        /// All watches of a connection.
        @discardableResult
        private mutating func begin(at revision: Int) throws -> [WatchProgress.Step] {
            try WatchProgress.kinds.indices.map {
                try take(#"{"result":{"header":{"revision":"\#(revision)"},"watch_id":"\#($0 + 1)","created":true}}"#)
            }
        }

        /// Before that, something may happen that only the last one would have seen.
        @Test func lastWatch_thatBegins_isTheHint() throws {
            var test = self
            let steps = try test.begin(at: 7)
            #expect(steps.map(\.isHint) == [false, false, false, false, false, true])
            #expect(!steps.map(\.goesOn).contains(false))
            #expect(test.progress.next == 8)
        }

        /// If etcd was restored, its counter may have passed the known revision by changes of which there is no event.
        @Test(arguments: [true, false])
        func watch_thatBeginsAgain_isAHintUnlessTheLastConnectionWasOnlySilent(_ wasSilent: Bool) throws {
            var test = self
            try test.begin(at: 7)
            test.progress.begin(isHinting: !wasSilent)
            let steps = try test.begin(at: 70)
            #expect(steps.map(\.isHint).contains(true) == !wasSilent)
            #expect(test.progress.next == 8)
        }

        /// A connection that is silent before has failed. If it counted as one that was only silent, its hint would never come, and a
        /// program lists nothing before the first hint.
        @Test func connection_hasBegunOnceAllItsWatchesHave() throws {
            var test = self
            for number in 1...WatchProgress.kinds.count {
                #expect(!test.progress.hasBegun)
                _ = try test.take(#"{"result":{"header":{"revision":"7"},"watch_id":"\#(number)","created":true}}"#)
            }
            #expect(test.progress.hasBegun)
            test.progress.begin(isHinting: false)
            #expect(!test.progress.hasBegun)
        }

        @Test func event_isAHintAndIsNotAskedForAgain() throws {
            var test = self
            try test.begin(at: 7)
            let step = try test.take(#"{"result":{"header":{"revision":"9"},"events":[{"kv":{"key":"YQ=="}}]}}"#)
            #expect(step == WatchProgress.Step(isHint: true, goesOn: true))
            #expect(test.progress.next == 10)
        }

        /// A refused watch says both in one line.
        @Test func watch_createdAndCanceled_isRefused() throws {
            var test = self
            let step = try test.take(
                #"{"result":{"header":{"revision":"7"},"created":true,"canceled":true,"cancel_reason":"etcdserver: invalid auth token"}}"#
            )
            #expect(step == WatchProgress.Step(isRefused: true))
            #expect(test.progress.next == nil)
        }

        @Test func historyThatIsCompacted_isListedFromNow() throws {
            var test = self
            try test.begin(at: 7)
            let step = try test.take(
                #"{"result":{"header":{"revision":"99"},"canceled":true,"compact_revision":"50"}}"#)
            #expect(step == WatchProgress.Step(isHint: true, isAgain: true))
            #expect(test.progress.next == nil)
        }

        @Test func revisionThatWentBack_isListedFromNow() throws {
            var test = self
            try test.begin(at: 70)
            let step = try test.take(#"{"result":{"header":{"revision":"9"},"created":true}}"#)
            #expect(step == WatchProgress.Step(isHint: true, isAgain: true))
            #expect(test.progress.next == nil)
        }

        @Test func lostLeader_endsTheWatch() throws {
            var test = self
            try test.begin(at: 7)
            let step = try test.take(#"{"error":{"grpc_code":14,"http_code":503,"message":"etcdserver: no leader"}}"#)
            #expect(step == WatchProgress.Step())
        }
    }
#endif
