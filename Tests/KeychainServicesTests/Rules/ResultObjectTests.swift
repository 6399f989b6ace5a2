// SPDX-License-Identifier: Apache-2.0
// The objects in results: whatever a program does with a list, it is as with an array of ordinary dictionaries.

import Foundation
import KeychainEngine
import KeychainServices
import KeychainTestSupport
import Testing

/// A way to take the objects out of an array, each in the form in which Foundation hands it out.
enum ListAccess: CaseIterable, Sendable {
    case loop, subscripts, objectAt, firstAndLast, enumeration, enumerator, reverseEnumerator, part, sorted, filtered,
        found, added, copy, mutableCopy, arrayOfArray, castToAny, castToObjects, castToTexts, castToHashable,
        castToDictionaries

    func elements(of array: NSArray) -> [Any] {
        switch self {
        case .loop: array.map { $0 }
        case .subscripts: (0..<array.count).map { array[$0] }
        case .objectAt: (0..<array.count).map { array.object(at: $0) }
        case .firstAndLast: [array.firstObject as Any, array.lastObject as Any]
        case .enumeration:
            withEnumerated(array) { array.enumerateObjects($0) }
        case .enumerator: array.objectEnumerator().allObjects
        case .reverseEnumerator: array.reverseObjectEnumerator().allObjects
        case .part: array.subarray(with: NSRange(location: 1, length: array.count - 1))
        case .sorted: array.sortedArray(comparator: { _, _ in .orderedSame })
        case .filtered: array.filtered(using: NSPredicate { object, _ in object is Entries })
        case .found: array.objects(at: IndexSet(integersIn: 0..<array.count))
        case .added: array.adding(1)
        case .copy: (array.copy() as? NSArray)?.map { $0 } ?? []
        case .mutableCopy: (array.mutableCopy() as? NSMutableArray)?.map { $0 } ?? []
        case .arrayOfArray: NSArray(array: array).map { $0 }
        case .castToAny: array as? [Any] ?? []
        case .castToObjects: array as [AnyObject]
        case .castToTexts: array as? [Entries] ?? []
        case .castToHashable: array as? [[AnyHashable: Any]] ?? []
        case .castToDictionaries: array as? [NSDictionary] ?? []
        }
    }

    private func withEnumerated(
        _ array: NSArray, _ enumerate: ((Any, Int, UnsafeMutablePointer<ObjCBool>) -> Void) -> Void
    ) -> [Any] {
        var objects: [Any] = []
        enumerate { object, _, _ in objects.append(object) }
        return objects
    }
}

@Suite("Rules: objects of results")
struct ResultObjectTests {
    /// In the order of the list, so that neighbours share some attributes, differ in some and lack others. The labels of two
    /// are equal to Swift, but not to Apple.
    private static var items: [Entries] {
        let items: [Entries] = [
            ["labl": "same", "icmt": "a", "crtr": 5], ["labl": "same", "icmt": "a", "crtr": 5],
            ["labl": "same", "crtr": 6, "invi": true], ["icmt": "a"], ["labl": "e\u{301}"], ["labl": "\u{E9}"], [:],
            ["labl": "same", "gena": Data([1])], ["labl": "same", "gena": Data()], ["agrp": "test2", "labl": "same"],
        ]
        return items.enumerated().map { number, entries in
            genp(["acct": "account-\(10 + number)", "svce": "s", "v_Data": Data("\(number)".utf8)]).adding(entries)
        }
    }

    private static var returns: [Entries] {
        [
            ["r_Attributes": true], ["r_Attributes": true, "r_Data": true, "r_PersistentRef": true, "r_Ref": true],
            ["r_Data": true, "r_PersistentRef": true], ["r_Data": true, "r_Ref": true],
        ]
    }

    private func list(_ services: Services, _ query: Entries) throws -> NSArray {
        let answer = services.find(query.adding(["m_Limit": "m_LimitAll"]))
        return try #require(answer.object as? NSArray)
    }

    private func filled(_ kind: StoreKind) throws -> Services {
        let services = try kind.services()
        for item in Self.items { try #require(services.add(item).status == errSecSuccess) }
        return services
    }

    /// The same list as an array of dictionaries, of which each is the result of a search for one item.
    private func ordinaryList(_ services: Services, _ returns: Entries) throws -> NSArray {
        let references = try #require(services.find(genp(["r_PersistentRef": true, "m_Limit": "m_LimitAll"])).dataList)
        let dictionaries = try references.map { reference in
            try #require(services.find(returns.adding(["v_PersistentRef": reference])).object as? NSDictionary)
        }
        try #require(dictionaries.allSatisfy { type(of: $0) == NSDictionary.self })
        return NSArray(array: dictionaries)
    }

    /// The object with its type and, of each entry, the type and the bytes.
    private func exact(_ object: Any) -> [String: String] {
        var texts = (object as? Entries ?? [:]).mapValues { value in
            let type = type(of: value)
            return switch value {
            case let text as String: "\(type) \(Array(text.utf8))"
            case let bytes as Data: "\(type) \(Array(bytes))"
            case let number as NSNumber: "\(type) \(number)"
            case let date as Date: "\(type) \(date.timeIntervalSinceReferenceDate.bitPattern)"
            default: "\(type) \(value)"
            }
        }
        texts["type"] = "\(type(of: object))"
        return texts
    }

    @Test(arguments: StoreKind.allCases, ListAccess.allCases)
    func list_takenApart_isLikeAnArrayOfDictionaries(kind: StoreKind, access: ListAccess) throws {
        let services = try filled(kind)
        for returns in Self.returns {
            let (found, ordinary) = (try list(services, genp(returns)), try ordinaryList(services, returns))
            #expect(found.count == Self.items.count && ordinary.count == found.count)
            let expected = access.elements(of: ordinary).map(exact)
            #expect(!expected.isEmpty && access.elements(of: found).map(exact) == expected)
            // The second time the dictionaries exist.
            #expect(access.elements(of: found).map(exact) == expected)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func list_ofItems_hasTheAttributesOfEach(kind: StoreKind) throws {
        let found = try #require(try list(try filled(kind), genp(Self.returns[1])) as? [Entries])
        try #require(found.count == Self.items.count)
        for (number, dictionary) in found.enumerated() {
            #expect(dictionary["class"] as? String == "genp")
            for (key, given) in Self.items[number] { #expect(same(dictionary[key], given), "\(key) of item \(number)") }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func list_comparedAndDescribed_isLikeAnArrayOfDictionaries(kind: StoreKind) throws {
        let services = try filled(kind)
        let (found, ordinary) = (try list(services, genp(Self.returns[0])), try ordinaryList(services, Self.returns[0]))
        let (copy, ordinaryCopy) = (found.mutableCopy(), ordinary.mutableCopy())
        #expect(found.isEqual(copy) && ordinary.isEqual(ordinaryCopy) && found.hash == ordinary.hash)
        #expect(found.isEqual(ordinary) && ordinary.isEqual(found))
        #expect(found.contains(found[0]) == ordinary.contains(ordinary[0]))
        #expect(found.index(of: found[3]) == ordinary.index(of: ordinary[3]))
        #expect(found.indexOfObjectIdentical(to: found[0]) == ordinary.indexOfObjectIdentical(to: ordinary[0]))
        let lines = { (list: NSArray) in
            list.description.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.sorted()
        }
        #expect(lines(found) == lines(ordinary) && lines(found).count > 10 * found.count)
    }

    @Test(arguments: StoreKind.allCases)
    func list_readTwice_hasTheSameObjects(kind: StoreKind) throws {
        let found = try list(try filled(kind), genp(Self.returns[0]))
        for index in 0..<found.count {
            let (first, second) = (found[index] as? Entries, found[index] as? Entries)
            let object = try #require(first?["accc"] as AnyObject?)
            #expect(object === second?["accc"] as AnyObject? && type(of: object) == SecAccessControl.self)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func list_readByManyThreads_isReadAlike(kind: StoreKind) throws {
        let found = try list(try filled(kind), genp(Self.returns[1]))
        nonisolated(unsafe) let shared = found
        nonisolated(unsafe) var seen = [[[String: String]]](repeating: [], count: 8)
        seen.withUnsafeMutableBufferPointer { results in
            nonisolated(unsafe) let results = results
            DispatchQueue.concurrentPerform(iterations: 8) { thread in results[thread] = shared.map(exact) }
        }
        #expect(seen.allSatisfy { $0 == seen[0] && $0.count == Self.items.count })
    }

    @Test(arguments: StoreKind.allCases)
    func list_whoseDictionariesAreChanged_staysAsItIs(kind: StoreKind) throws {
        let found = try list(try filled(kind), genp(Self.returns[1]))
        let before = found.map(exact)
        for case var dictionary as Entries in found { dictionary["labl"] = "changed" }
        for case let dictionary as NSDictionary in found {
            let copy = try #require(dictionary.mutableCopy() as? NSMutableDictionary)
            copy["labl"] = "changed"
            copy["agrp"] = nil
        }
        (found.mutableCopy() as? NSMutableArray)?.removeAllObjects()
        #expect(found.map(exact) == before)
    }

    @Test(arguments: StoreKind.allCases)
    func list_ofItemsThatAreChangedMeanwhile_hasThemAsTheyWereFound(kind: StoreKind) throws {
        let services = try filled(kind)
        let found = try list(services, genp(Self.returns[1]))
        #expect(
            services.update(genp(["acct": "account-10"]), to: ["labl": "new", "v_Data": otherSecret]) == errSecSuccess)
        #expect(services.delete(genp(["acct": "account-11"])) == errSecSuccess)
        let dictionaries = try #require(found as? [Entries])
        #expect(dictionaries.map { $0["v_Data"] as? Data } == Self.items.map { $0["v_Data"] as? Data })
        #expect(dictionaries.map { $0["labl"] as? String } == Self.items.map { $0["labl"] as? String })
    }

    @Test(arguments: StoreKind.allCases)
    func list_ofTextsAndDatesThatAreOnlyEqualToSwift_keepsEach(kind: StoreKind) throws {
        let store = try kind.services().engine.store
        for (account, seconds, label) in [("a", 0.0, "e\u{301}"), ("b", -0.0, "\u{E9}"), ("c", 0.0, "e\u{301}")] {
            let engine = Engine(store: store, now: { Date(timeIntervalSinceReferenceDate: seconds) })
            let services = Services(engine: engine, accessGroups: AccessGroups(["test"]))
            try #require(services.add(genp(["acct": account, "labl": label])).status == errSecSuccess)
        }
        let services = Services(engine: Engine(store: store), accessGroups: AccessGroups(["test"]))
        let found = try #require(try list(services, genp(Self.returns[0])) as? [Entries])
        let signs = found.map { ($0["cdat"] as? Date)?.timeIntervalSinceReferenceDate.sign }
        #expect(signs == [.plus, .minus, .plus])
        #expect(found.map { ($0["labl"] as? String)?.utf8.count } == [3, 2, 3])
    }
}
