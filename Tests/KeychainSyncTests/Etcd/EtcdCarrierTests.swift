// SPDX-License-Identifier: Apache-2.0
// An etcd as a carrier: what is left there, and what others leave there.

#if Etcd
    import Foundation
    import KeychainSync
    import KeychainTestSupport
    import SecretMemory
    import Testing

    @testable import KeychainSyncCore
    @testable import KeychainSyncEtcd

    @Suite(.enabled(if: Etcd.isInstalled, Etcd.isMissing), .serialized)
    struct EtcdCarrierTests {
        private let node: EtcdNode
        private let keys: EtcdKeys
        private let carrier: any Carrier
        private static let ring = RingID(Data(repeating: 7, count: 32))
        private static let name = ObjectName.segment(WriterID(5), 9)
        private static let bytes = Data("an object".utf8)
        private static let other = Data("another".utf8)

        init() throws {
            node = try EtcdNode.started()
            carrier = try EtcdKind(Etcd.timing).carrier(of: Self.ring, at: node.place())
            keys = EtcdKeys("/", Self.ring)
        }

        private func put(_ key: String, _ value: String) throws { try node.done("put", key, value) }

        private func key(_ bytes: Data) -> String { keys.root + EtcdKey(Self.name, bytes).text }

        // MARK: - Objects

        @Test func objectsOfAllKinds_published_areListedAndRead() async throws {
            for name in FolderCarrierTests.names {
                #expect(try await carrier.publish(name, Self.bytes) == .created)
                let read = try await carrier.read([name]).objects
                #expect(read.map(\.name) == [name] && read.map(\.bytes) == [Self.bytes])
            }
            let listing = try await carrier.list()
            #expect(listing.names == Set(FolderCarrierTests.names))
            #expect(listing.contents[Self.name] == [ListedContent(Self.bytes)])
            #expect(try #require(listing.revision) > 1)
        }

        @Test func object_publishedAgain_isThereAlready() async throws {
            _ = try await carrier.publish(Self.name, Self.bytes)
            #expect(try await carrier.publish(Self.name, Self.bytes) == .alreadySame)
            #expect(try await carrier.read([Self.name]).objects.count == 1)
        }

        /// A machine that was copied writes another segment under the same number.
        @Test func otherSegmentOfTheName_isNotPublished_orLiesBesideTheFirst() async throws {
            _ = try await carrier.publish(Self.name, Self.bytes)
            #expect(try await carrier.publish(Self.name, Self.other) == .otherThere)
            #expect(try await carrier.read([Self.name]).objects.map(\.bytes) == [Self.bytes])
            #expect(try await carrier.publish(Self.name, Self.other, beside: true) == .created)
            #expect(Set(try await carrier.read([Self.name]).objects.map(\.bytes)) == [Self.bytes, Self.other])
            #expect(
                try await carrier.list().contents == [
                    Self.name: [ListedContent(Self.bytes), ListedContent(Self.other)]
                ])
        }

        /// Everything but a segment is of one content, or harmless beside another one.
        @Test func otherObjectOfTheName_liesBesideTheFirst() async throws {
            let name = FolderCarrierTests.names[0]
            _ = try await carrier.publish(name, Self.bytes)
            #expect(try await carrier.publish(name, Self.other) == .created)
            #expect(try await carrier.read([name]).objects.count == 2)
        }

        @Test func objects_removed_areGone() async throws {
            for bytes in [Self.bytes, Self.other] { _ = try await carrier.publish(Self.name, bytes, beside: true) }
            try await carrier.remove([Self.name, .entry(EntryHash(Data(repeating: 1, count: 32)))])
            #expect(try await carrier.list().names.isEmpty)
            #expect(try await carrier.read([Self.name]).objects.isEmpty)
        }

        @Test func segment_published_movesTheTipOfItsWriter() async throws {
            _ = try await carrier.publish(Self.name, Self.bytes)
            let text = try node.control(["get", "--print-value-only", keys.root + "t/" + WriterID(5).hex]).text
            #expect(text == "9\n")
        }

        @Test func rings_areFoundAndShareNothing() async throws {
            let kind = EtcdKind(Etcd.timing)
            let rings = (1...3).map { RingID(Data(repeating: $0, count: 32)) }
            for ring in rings {
                _ = try await kind.carrier(of: ring, at: node.place()).publish(Self.name, Self.bytes)
                _ = try await kind.carrier(of: ring, at: node.place()).publish(Self.name, Self.other, beside: true)
            }
            try put("/skc1/junk", "x")
            try put("/skc1/\(String(repeating: "z", count: 64))/l/x", "x")
            #expect(try await kind.rings(at: node.place()) == rings)
            #expect(try await kind.rings(at: node.place { $0.prefix = "/team/" }).isEmpty)
            #expect(try await carrier.list().names.isEmpty)
        }

        @Test func listing_ofManyPages_isWhole() async throws {
            let client = EtcdClient(try EtcdPlace(node.place()), Etcd.timing)
            let carrier = EtcdCarrier(client, Self.ring, Etcd.timing, page: 2)
            let names = (1...7).map { ObjectName.segment(WriterID(5), $0) }
            for name in names { _ = try await carrier.publish(name, Self.bytes) }
            #expect(try await carrier.list().names == Set(names))
        }

        @Test func objectLargerThanAny_isRefused_andTheLargestIsNot() async throws {
            let failure = await #expect(throws: CarrierFailure.self) {
                _ = try await carrier.publish(Self.name, Data(count: Bounds.object + 1))
            }
            #expect(failure?.reason == .tooLarge)
            let largest = Data(repeating: 1, count: Bounds.object)
            #expect(try await carrier.publish(Self.name, largest) == .created)
            #expect(try await carrier.read([Self.name]).objects.map(\.bytes) == [largest])
        }

        @Test func manyLargeObjects_areReadInParts() async throws {
            let names = (1...20).map { ObjectName.segment(WriterID(5), $0) }
            for name in names { _ = try await carrier.publish(name, Data(repeating: 1, count: Bounds.object)) }
            #expect(try await carrier.read(names).objects.map(\.name) == names)
        }

        // MARK: - What others leave there

        @Test func keysOfOthers_arePassedOver() async throws {
            _ = try await carrier.publish(Self.name, Self.bytes)
            for key in ["l/x", "x", "l/0000000000000005/0000000000000009-00000000", "t/x", ""] {
                try put(keys.root + key, "v")
            }
            #expect(try await carrier.list().names == [Self.name])
            #expect(try await carrier.read([Self.name]).objects.count == 1)
        }

        @Test func valueThatIsNotWhatItsKeySays_isDamagedAndReplaced() async throws {
            try put(key(Self.bytes), "junk")
            let reading = try await carrier.read([Self.name])
            #expect(reading.objects.isEmpty && reading.damaged == [Self.name])
            #expect(try await carrier.publish(Self.name, Self.bytes) == .created)
            #expect(try await carrier.read([Self.name]).objects.map(\.bytes) == [Self.bytes])
        }

        @Test func damagedValueOfAnotherContent_keepsNoSegmentOut() async throws {
            try put(key(Self.other), "junk")
            #expect(try await carrier.publish(Self.name, Self.bytes) == .created)
            #expect(try await carrier.read([Self.name]).objects.map(\.bytes) == [Self.bytes])
        }

        // MARK: - Changes

        @Test func change_ofAnotherMachine_isAHint() async throws {
            let hints = try await WatchedHints(carrier)
            try await hints.expect { try put(key(Self.bytes), "an object") }
        }

        @Test func compaction_whileWatching_losesNoHint() async throws {
            let hints = try await WatchedHints(carrier)
            for round in 1...3 {
                try put("other", "\(round)")
                try node.done("compact", "\(try #require(try await carrier.list().revision))")
                try await hints.expect {
                    _ = try await carrier.publish(.segment(WriterID(5), UInt64(round)), Self.bytes)
                }
            }
            #expect(try await carrier.list().names.count == 3)
        }

        @Test func nodeThatStartsAgain_isWatchedOn() async throws {
            let hints = try await WatchedHints(carrier)
            node.end()
            try node.start([node])
            try node.awaitReady()
            try await hints.expect { _ = try await carrier.publish(Self.name, Self.bytes) }
        }
    }
#endif
