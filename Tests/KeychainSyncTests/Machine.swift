// SPDX-License-Identifier: Apache-2.0
// A machine of a ring, as tests use it.

import Foundation
import KeychainEngine
import KeychainTestSupport
import KeychainVault

@testable import KeychainSync

/// A machine with a vault of its own.
struct Machine {
    let vault: Vault
    let member: RingMember

    init(_ root: String, _ name: String) throws {
        let location = try VaultLocation(
            folder: "\(root)/\(name)/vault", deviceKeyFile: "\(root)/\(name)/config/device.key")
        var settings = VaultSettings()
        settings.scryptCost = .cheap
        vault = Vault(location, settings)
        member = RingMember(vault)
    }

    var engine: Engine { Engine(store: vault) }

    static func query(_ account: String, _ value: String? = nil) -> Query {
        var query = Query(
            .genericPassword,
            [.service: .string("s"), .account: .string(account), .synchronizable: .bool(true)])
        query.value = value.map { Data($0.utf8) }
        return query
    }

    func add(_ account: String, _ value: String) throws {
        _ = try engine.add(Self.query(account, value), accessGroups: .unrestricted)
    }

    func update(_ account: String, _ value: String) throws {
        try engine.update(Self.query(account), with: Changes(value: Data(value.utf8)), accessGroups: .unrestricted)
    }

    func delete(_ account: String) throws { try engine.delete(Self.query(account), accessGroups: .unrestricted) }

    /// `account=value`, in alphabetical order.
    func items() throws -> [String] {
        let selection = Selection(itemClass: .genericPassword, conditions: [.synchronizable: .number(1)])
        return try vault.select(selection, limit: nil, includingValues: true, .none).items.map { stored in
            guard case .string(let account) = stored.item.attributes[.account] else { return "?" }
            return "\(account)=\(String(decoding: stored.item.value ?? Data(), as: UTF8.self))"
        }.sorted()
    }

    @discardableResult func exchange() async throws -> ExchangeReport {
        try await member.exchange(timeout: .seconds(900))
    }
}
