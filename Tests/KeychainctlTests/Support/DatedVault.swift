// SPDX-License-Identifier: Apache-2.0
// A vault whose versions are kept by the clock of a test.

import Foundation
import KeychainEngine
import KeychainKit
import KeychainTestSupport
import KeychainVault

@testable import keychainctl

struct DatedVault {
    private let folder: TemporaryFolder
    let vault: Vault

    init() throws {
        folder = try TemporaryFolder("keychainctl")
        let environment = ["HOME": folder.url.path, "KEYCHAIN_ANCHORS": "file"]
        vault = Vault.at(try .fromEnvironment(environment), try .fromEnvironment(environment))
    }

    /// The noon of a day in 2026.
    static func noon(_ day: Int) -> Date { Date(timeIntervalSince1970: 1_767_268_800 + Double(day) * 86400) }

    /// The vault for a command that runs at the noon of a day.
    func store(day: Int, _ command: ChangingCommand) -> KeepingStore {
        KeepingStore(vault, command) { Self.noon(day) }
    }

    func store(_ service: String, day: Int, _ command: ChangingCommand = .set) -> SecretStore {
        SecretStore(service: service, store: store(day: day, command), accessGroups: .unrestricted)
    }

    func set(_ value: String, _ service: String = "s", day: Int, _ accessibility: Accessibility? = nil) throws {
        var store = store(service, day: day)
        store.accessibility = accessibility
        try store.save(Data(value.utf8), for: "a")
    }

    /// For each version that is kept, the service of its item.
    func services() throws -> [String?] { try KeptVersions(items: vault).all().map { $0.name.listed?.service } }
}

extension Vault {
    /// As `history --on` and `history --off` do.
    func switchHistory(on isOn: Bool) throws {
        var settings = try HistorySettings.read(self)
        settings.isOn = isOn
        try transaction(.none) { (items) throws(KeychainError) in try settings.write(items, at: DatedVault.noon(0)) }
    }
}
