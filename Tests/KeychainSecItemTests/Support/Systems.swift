// SPDX-License-Identifier: Apache-2.0
// The four functions as other systems have them, over our own.

import Foundation
import KeychainEngine
import KeychainSecItem
import KeychainServices
import Synchronization

extension SecItemStore {
    /// A store over our own Keychain Services, over another store.
    convenience init(over base: any ItemStore, accessGroups: AccessGroups = .unrestricted) {
        self.init(.services(over: base, accessGroups: accessGroups))
    }
}

extension SecItemFunctions {
    static func services(
        over base: any ItemStore, accessGroups: AccessGroups = .unrestricted, dialect: Engine.Dialect = .lenient
    ) -> SecItemFunctions {
        let services = Services(engine: Engine(store: base, dialect: dialect), accessGroups: accessGroups)
        return SecItemFunctions(
            add: { services.add($0, $1) }, copyMatching: { services.copyMatching($0, $1) },
            update: { services.update($0, $1) }, delete: { services.delete($0) })
    }

    /// A system that refuses what any of Apple's refuses, and has persistent references of 12 bytes.
    static func stricter(over base: any ItemStore) -> SecItemFunctions {
        let (inner, references) = (services(over: base, dialect: .strict), ShortReferences())
        return SecItemFunctions(
            add: { entries, result in
                guard Rules.areKept(by: entries, inSearch: false) else { return errSecParam }
                let status = inner.add(entries, result)
                references.shorten(result)
                return status
            },
            copyMatching: { entries, result in
                guard Rules.areKept(by: entries, inSearch: true) else { return errSecParam }
                let status = inner.copyMatching(references.lengthened(entries), result)
                references.shorten(result)
                return status
            },
            update: { entries, changes in
                guard Rules.areKept(by: entries, inSearch: false), changes.count > 0 else { return errSecParam }
                return inner.update(references.lengthened(entries), changes)
            },
            delete: { entries in
                guard Rules.areKept(by: entries, inSearch: false) else { return errSecParam }
                return inner.delete(references.lengthened(entries))
            })
    }

    /// The same functions; each dictionary given to them is noted first.
    func noting(_ notes: Notes) -> SecItemFunctions {
        let inner = self
        return SecItemFunctions(
            add: {
                notes.note("add", $0); return inner.add($0, $1)
            },
            copyMatching: {
                notes.note("find", $0); return inner.copyMatching($0, $1)
            },
            update: {
                notes.note("update", $0); return inner.update($0, $1)
            },
            delete: {
                notes.note("delete", $0); return inner.delete($0)
            })
    }
}

/// What was asked of a system.
final class Notes: Sendable {
    private let all = Mutex<[(call: String, entries: [String: String])]>([])

    func note(_ call: String, _ entries: CFDictionary) {
        let texts = (entries as? [String: Any] ?? [:]).mapValues { "\($0)" }
        all.withLock { $0.append((call, texts)) }
    }

    var calls: [String] { all.withLock { $0.map(\.call) } }

    func last(_ call: String) -> [String: String] {
        all.withLock { $0.last { $0.call == call }?.entries ?? [:] }
    }
}

private enum Rules {
    /// What some system or other of Apple's refuses.
    static func areKept(by dictionary: CFDictionary, inSearch isSearch: Bool) -> Bool {
        guard let entries = dictionary as? [String: Any], entries["nleg"] as? Bool == true else { return false }
        let isOfSeveral = entries["m_Limit"] as? String != "m_LimitOne"
        if entries["r_Data"] != nil, isOfSeveral { return false }
        if !isSearch, entries.keys.contains(where: { $0.hasPrefix("m_") }) { return false }
        return entries["v_PersistentRef"] == nil || !entries.keys.contains { $0.utf8.count == 4 && $0 != "nleg" }
    }
}

/// References of 12 bytes in place of those of 20.
private final class ShortReferences: Sendable {
    private let long = Mutex<[Data: Data]>([:])

    func shorten(_ result: UnsafeMutablePointer<CFTypeRef?>?) {
        guard let object = result?.pointee else { return }
        if let list = object as? [[String: Any]] {
            result?.pointee = list.map(shortened) as NSArray
        } else if let entries = object as? [String: Any] {
            result?.pointee = shortened(entries) as NSDictionary
        }
    }

    private func shortened(_ entries: [String: Any]) -> [String: Any] {
        guard let reference = entries["v_PersistentRef"] as? Data else { return entries }
        let short = reference.prefix(12)
        long.withLock { $0[short] = reference }
        return entries.merging(["v_PersistentRef": short]) { $1 }
    }

    func lengthened(_ dictionary: CFDictionary) -> CFDictionary {
        guard var entries = dictionary as? [String: Any], let short = entries["v_PersistentRef"] as? Data else {
            return dictionary
        }
        entries["v_PersistentRef"] = long.withLock { $0[short] } ?? short
        return entries as CFDictionary
    }
}
