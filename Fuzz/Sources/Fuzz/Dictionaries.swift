// SPDX-License-Identifier: Apache-2.0
// Dictionaries of callers: any keys, any values, several calls on one store.

import Foundation
import KeychainEngine

@testable import KeychainServices

enum Dictionaries {
    /// The same calls on two stores, with the entries in another order: which error is reported may differ, whether a call
    /// succeeds may not.
    static func query(_ bytes: Data) {
        var input = FuzzInput(bytes)
        let isLenient = input.byte() & 1 == 0
        let stores = [0, 1].map { _ in
            Services(
                engine: Engine(store: MemoryStore(), dialect: isLenient ? .lenient : .strict),
                accessGroups: .unrestricted)
        }
        // What each store has given out, at the same places.
        var references: [[Data]] = [[], []]
        for _ in 0..<8 where !input.isEmpty {
            let operation = input.byte() % 4
            let (first, second) = (entries(&input), operation == 2 ? entries(&input) : [])
            let statuses = [0, 1].map { store in
                let dictionaries = [first, second].map { dictionary($0, store == 1, references[store]) }
                return call(stores[store], operation, dictionaries[0], dictionaries[1], &references[store])
            }
            require((statuses[0] == errSecSuccess) == (statuses[1] == errSecSuccess), "order does not matter")
        }
    }

    private static func call(
        _ services: Services, _ operation: UInt8, _ first: NSDictionary, _ second: NSDictionary,
        _ references: inout [Data]
    ) -> OSStatus {
        var result: AnyObject?
        let status: OSStatus
        switch operation {
        case 0: status = services.add(first, &result)
        case 1: status = services.copyMatching(first, &result)
        case 2: status = services.update(first, second)
        default: status = services.delete(first)
        }
        require(status == errSecSuccess || result == nil, "a failure has no result")
        if let reference = result as? Data, references.count < 8 { references.append(reference) }
        return status
    }

    // MARK: - Entries

    private static let keys = [
        "class", "svce", "acct", "labl", "agrp", "pdmn", "sync", "cdat", "mdat", "srvr", "port", "ptcl", "path", "sdmn",
        "atyp", "gena", "desc", "icmt", "crtr", "type", "invi", "nega", "atag", "klbl", "kcls", "bsiz", "esiz", "perm",
        "encr", "decr", "subj", "issr", "slnr", "ctyp", "cenc", "accc", "nleg", "acls", "tkid", "musr", "r_Data",
        "r_Attributes", "r_Ref", "r_PersistentRef", "m_Limit", "m_HostOrSubdomainOfHost", "m_Policy", "m_Issuers",
        "m_ValidOnDate", "m_TrustedOnly", "m_EmailAddressIfPresent", "m_ItemList", "v_Data", "v_PersistentRef",
        "v_Ref", "u_AuthUI", "u_NoAuthUI", "u_OpPrompt", "u_AuthCtx", "u_CredRef", "u_ItemList", "f_x", "éééé", "🔑ab",
    ]

    private static let words = [
        "genp", "inet", "cert", "keys", "idnt", "ak", "ck", "dk", "aku", "cku", "dku", "akpu", "syna", "m_LimitOne",
        "m_LimitAll", "u_AuthUI", "u_AuthUIF", "u_AuthUIS", "", "a", "é", "e\u{301}", "example.com", "www.example.com",
    ]

    /// Stands for a reference that the store gave out earlier.
    private struct Reference {
        let number: Int
    }

    private static func entries(_ input: inout FuzzInput) -> [(NSObject, Any)] {
        (0..<min(Int(input.byte()), 150)).compactMap { _ in
            input.isEmpty ? nil : (key(&input), value(&input))
        }
    }

    /// Always the same one: on Linux two of them are equal and have different hashes, over which a dictionary ends the program.
    private static let null = NSNull()

    private static func key(_ input: inout FuzzInput) -> NSObject {
        switch input.byte() {
        // Foundation's dictionaries end the program over some keys outside ASCII that are equal only to a person.
        case 0: NSString(string: String(decoding: input.bytes().map { $0 & 0x7F }, as: UTF8.self))
        case 1: NSNumber(value: input.number(Int32.self))
        case 2: null
        default: NSString(string: input.element(of: keys))
        }
    }

    private static func value(_ input: inout FuzzInput) -> Any {
        switch input.byte() % 20 {
        case 0...3: input.element(of: words)
        case 4, 5: input.text()
        case 6, 7: input.bytes()
        case 8: NSNumber(value: input.byte())
        case 9: NSNumber(value: input.number(Int64.self))
        case 10: NSNumber(value: input.number(UInt64.self))
        case 11: NSNumber(value: Double(bitPattern: input.number()))
        case 12, 13: input.byte() & 1 == 0
        case 14: Date(timeIntervalSinceReferenceDate: Double(bitPattern: input.number()))
        case 15: NSNull()
        case 16: [input.text()]
        case 17: ["a": input.bytes()] as NSDictionary
        case 18: accessControl(&input) ?? NSNull()
        default: Reference(number: Int(input.byte() % 8))
        }
    }

    private static func accessControl(_ input: inout FuzzInput) -> AnyObject? {
        SecAccessControlCreateWithFlags(
            nil, input.element(of: words) as NSString,
            SecAccessControlCreateFlags(rawValue: UInt(input.number(UInt32.self))),
            nil)
    }

    /// A later entry with the same key takes the place of an earlier one, in whichever order they are put in.
    private static func dictionary(_ entries: [(NSObject, Any)], _ isReversed: Bool, _ references: [Data])
        -> NSDictionary
    {
        let unique = NSMutableDictionary()
        for (key, value) in entries {
            let number = (value as? Reference)?.number
            let given = number.map { references.indices.contains($0) ? references[$0] : Data(count: 20) }
            unique.setObject(given ?? value, forKey: key)
        }
        guard isReversed else { return unique }
        let reversed = NSMutableDictionary(capacity: 256)
        for (key, value) in unique.map({ ($0.key, $0.value) }).reversed() {
            if let key = key as? AnyHashable { reversed.setObject(value, forKey: key) }
        }
        return reversed
    }
}
