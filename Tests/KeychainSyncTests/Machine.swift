// SPDX-License-Identifier: Apache-2.0
// A machine of a ring, as tests use it.

import Foundation
import KeychainEngine
import KeychainSyncCore
import KeychainTestSupport
import KeychainTesting
import SecretMemory
import Testing

@testable import KeychainSync
@testable import KeychainVault

/// A machine with a vault of its own.
struct Machine {
    let name: String
    let vault: Vault
    let member: RingMember

    init(
        _ root: String, _ name: String, machineIDFile: String? = nil, kinds: [any CarrierKind] = [],
        clock: @escaping @Sendable () -> UInt64 = RingMember.systemTime
    ) throws {
        self.name = name
        let location = try VaultLocation(
            folder: "\(root)/\(name)/vault", deviceKeyFile: "\(root)/\(name)/config/device.key")
        var settings = VaultSettings()
        settings.scryptCost = .cheap
        settings.unlockCache = .process
        settings.writerTimeout = .seconds(600)
        if let machineIDFile { settings.machineIDFile = machineIDFile }
        vault = Vault(location, settings)
        member = RingMember(vault, kinds: kinds, clock: clock)
    }

    init(_ name: String, _ vault: Vault, kinds: [any CarrierKind]) {
        (self.name, self.vault, member) = (name, vault, RingMember(vault, kinds: kinds))
    }

    /// Its exchanges take as long as they need: the clock stands still.
    var sync: KeychainSync { KeychainSync(member, clock: TestClock()) }

    var engine: Engine { Engine(store: vault) }

    private static var passphrase: ProtectorSecret {
        ProtectorSecret(PassphraseProtector.kind, SecretBytes(text: "several words"))
    }

    /// From then on only a passphrase opens the vault.
    func lock() throws {
        try vault.addProtector(Self.passphrase)
        let deviceKey = try #require(try vault.status().slots.first { $0.kind == DeviceKeyProtector.kind })
        try vault.removeProtector(deviceKey.id, authority: Self.passphrase)
        try vault.lock()
    }

    func unlock() throws { try vault.unlock(Self.passphrase) }

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

    /// Lets another machine in: it joins while this one exchanges until it has admitted it.
    func admit(_ machine: Machine, at place: CarrierPlace, as role: Role = .device) async throws {
        let code = try await member.invite(name: machine.name, for: .seconds(3600), role: role)
        try await admit(machine, with: code, at: place)
    }

    /// - Parameter code: Of an invitation by this machine.
    func admit(_ machine: Machine, with code: SecretBytes, at place: CarrierPlace) async throws {
        async let joined = machine.member.join(code, at: place, interval: .milliseconds(5))
        let admission = Task {
            try await yieldUntil("A machine that is let in", every: .milliseconds(5)) {
                try await !exchange().admitted.isEmpty
            }
        }
        _ = try await joined
        try await admission.value
    }

    @discardableResult func exchange() async throws -> ExchangeReport {
        try await member.exchange(timeout: .seconds(900))
    }
}
