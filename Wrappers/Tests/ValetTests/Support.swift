// SPDX-License-Identifier: Apache-2.0
// Valets of stores of their own, and what calls on them end with.

import Foundation
import KeychainEngine
@_spi(Wrappers) import KeychainKit
import Testing
import WrapperStores

@testable import Valet

let passphrase = "open sesame"

extension Valet.Identifier {
    /// One for tests, which is not empty.
    static func named(_ name: String) throws -> Valet.Identifier { try #require(Valet.Identifier(nonEmpty: name)) }
}

extension Valet.SharedGroupIdentifier {
    static func named(_ name: String) throws -> Valet.SharedGroupIdentifier {
        try #require(Valet.SharedGroupIdentifier(appIDPrefix: "TEAM", nonEmptyGroup: name))
    }
}

/// All valets without prompts, of one name, over one store.
func permutations(_ store: any ItemStore, _ name: String = "app") throws -> [Valet] {
    let identifier = try Valet.Identifier.named(name)
    let group = try Valet.SharedGroupIdentifier.named(name)
    let valets =
        Valet.permutations(with: identifier) + Valet.permutations(with: group)
        + Valet.iCloudPermutations(with: identifier) + Valet.iCloudPermutations(with: group)
    return valets.map { $0.using(store) }
}

func valet(
    _ store: any ItemStore, _ name: String = "app", _ accessibility: Valet.Accessibility = .whenUnlocked
) throws -> Valet {
    try Valet.valet(with: .named(name), accessibility: accessibility).using(store)
}

func keychainError(_ body: () throws -> Any?) -> Valet.KeychainError? { failure(body) as? Valet.KeychainError }

func migrationError(_ body: () throws -> Any?) -> Valet.MigrationError? { failure(body) as? Valet.MigrationError }

extension MemoryStore {
    /// Adds an item of a valet that has no value.
    func addItemWithoutValue(of valet: Valet, _ key: String) throws {
        var item = Query(.genericPassword, [.service: .string(valet.service.description), .account: .string(key)])
        item.returns = []
        _ = try Engine(store: self).add(item, accessGroups: .unrestricted)
    }

    /// Adds an item whose service is not text.
    func addItemOfBinaryService(account: String, value: String) throws {
        var item = Query(.genericPassword, [.service: .data(Data([0xFF])), .account: .string(account)])
        item.value = Data(value.utf8)
        _ = try Engine(store: self).add(item, accessGroups: .unrestricted)
    }
}

/// Everything that a store holds of a valet, by key.
func content(_ valet: Valet) throws -> [String: String] {
    let pairs = try valet.allKeys().map { ($0, try valet.string(forKey: $0)) }
    return Dictionary(uniqueKeysWithValues: pairs)
}
