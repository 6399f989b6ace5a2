// SPDX-License-Identifier: Apache-2.0
// Short spellings for tests: dictionaries by Apple's own key texts, and the four calls with their answers.

import Foundation
import KeychainEngine
import KeychainServices
import KeychainTestSupport
import Testing

/// A request, spelled with the texts that the constants hold, as the rules spell it too (`ConstantTests` ties the two).
typealias Entries = [String: Any]

let secret = Data("correct horse".utf8)
let otherSecret = Data("battery staple".utf8)

/// A request for a class; `entries` win, so that tables can name another class.
func genp(_ entries: Entries = [:]) -> Entries { ["class": "genp"].adding(entries) }
func inet(_ entries: Entries = [:]) -> Entries { ["class": "inet"].adding(entries) }
func cert(_ entries: Entries = [:]) -> Entries { ["class": "cert"].adding(entries) }
func keys(_ entries: Entries = [:]) -> Entries { ["class": "keys"].adding(entries) }

extension Entries {
    func adding(_ others: Entries) -> Entries { merging(others) { _, other in other } }

    func without(_ keys: String...) -> Entries { filter { !keys.contains($0.key) } }
}

/// What a call answered.
struct Answer {
    let status: OSStatus
    let object: AnyObject?

    var data: Data? { object as? Data }
    var dictionary: Entries? { object as? Entries }
    var dataList: [Data]? { object as? [Data] }
    var dictionaries: [Entries]? { object as? [Entries] }
}

/// What the result variable of a call holds before it is made.
private final class Untouched: NSObject, Sendable {
    static let object = Untouched()
}

extension Services {
    @discardableResult func add(_ entries: Entries) -> Answer {
        var object: AnyObject? = Untouched.object
        let status = add(entries as NSDictionary, &object)
        return Answer(status: status, object: object)
    }

    func find(_ entries: Entries) -> Answer {
        var object: AnyObject? = Untouched.object
        let status = copyMatching(entries as NSDictionary, &object)
        return Answer(status: status, object: object)
    }

    func update(_ entries: Entries, to changes: Entries) -> OSStatus {
        update(entries as NSDictionary, changes as NSDictionary)
    }

    func delete(_ entries: Entries) -> OSStatus {
        delete(entries as NSDictionary)
    }

    /// The attributes of the one item that matches.
    func attributes(_ entries: Entries) throws -> Entries {
        let answer = find(entries.adding(["r_Attributes": true]))
        try #require(answer.status == errSecSuccess)
        return try #require(answer.dictionary)
    }

    /// How many items match.
    func count(_ entries: Entries) -> Int {
        find(entries.adding(["r_PersistentRef": true, "m_Limit": "m_LimitAll"])).dataList?.count ?? 0
    }
}

extension Answer {
    /// Whether the result variable is as it was before the call.
    var isUntouched: Bool { object === Untouched.object }
}

/// One of the four calls; an update changes nothing but the modification date.
enum Call: String, CaseIterable, Sendable {
    case add, find, update, delete

    func status(_ services: Services, _ entries: NSDictionary) -> OSStatus {
        switch self {
        case .add: services.add(entries, nil)
        case .find: services.copyMatching(entries, nil)
        case .update: services.update(entries, [:])
        case .delete: services.delete(entries)
        }
    }

    func status(_ services: Services, _ entries: Entries) -> OSStatus { status(services, entries as NSDictionary) }

    /// The answer of a fresh keychain that holds one item, except for an addition, which would meet its like.
    func status(
        _ kind: StoreKind, _ entries: Entries, _ dialect: Engine.Dialect = .lenient, item: Entries = genp()
    ) throws -> OSStatus {
        let services = try kind.services(dialect: dialect)
        if self != .add { services.add(item) }
        return status(services, entries)
    }
}

let dialects: [Engine.Dialect] = [.lenient, .strict]

/// One line of a table of values; `Any` is what callers give, and each value is only read.
struct Row<Expected: Sendable>: @unchecked Sendable, CustomTestStringConvertible {
    let name: String
    let entries: Entries
    let expected: Expected

    init(_ name: String, _ entries: Entries, _ expected: Expected) {
        self.name = name
        self.entries = entries
        self.expected = expected
    }

    var testDescription: String { name }
}

/// Whether two values are the same object value, types included.
func same(_ lhs: Any?, _ rhs: Any?) -> Bool {
    guard let lhs, let rhs else { return lhs == nil && rhs == nil }
    return (lhs as AnyObject as? NSObject) == (rhs as AnyObject as? NSObject)
}
