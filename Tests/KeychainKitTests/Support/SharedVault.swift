// SPDX-License-Identifier: Apache-2.0
// A vault in a temporary folder, and other processes that use it.

import Foundation
import KeychainKit
import KeychainTestSupport

@testable import KeychainVault

extension VaultSettings {
    /// A change waits for others as long as they take on a busy machine.
    static var patient: VaultSettings {
        var settings = VaultSettings()
        settings.writerTimeout = .seconds(600)
        return settings
    }
}

/// A vault that lives as long as one test.
final class SharedVault: Sendable {
    private let folder: TemporaryFolder
    let location: VaultLocation
    let vault: Vault

    init(_ settings: VaultSettings = .patient) throws {
        folder = try TemporaryFolder("keychain-kit")
        let (path, deviceKeyFile) = (folder.path + "/vault", folder.path + "/config/device.key")
        location = try VaultLocation(folder: path, deviceKeyFile: deviceKeyFile)
        vault = Vault(location, settings)
    }

    /// The items of the exerciser.
    var store: SecretStore { Self.store(of: vault) }

    /// The same as another process would see it: nothing cached, opened again.
    func reopened() -> SecretStore { Self.store(of: Vault(location, .patient)) }

    /// With time for a busy machine.
    private static func store(of vault: Vault) -> SecretStore {
        var store = SecretStore(service: "exerciser", store: vault)
        store.timeout = Timeout(operation: .testLimit)
        return store
    }

    // MARK: - Other processes

    /// A running exerciser.
    func start(_ command: [String]) throws -> RunningExerciser {
        try RunningExerciser(Exerciser.words(command, on: location))
    }

    func run(_ command: String...) throws -> RunningExerciser.Result { try start(command).finish() }

    /// An exerciser under `strace`, which kills it at a chosen system call.
    func run(_ command: [String], injecting injection: String, strace: String) throws -> RunningExerciser.Result {
        let call = String(injection.prefix { $0 != ":" })
        let options = ["-f", "-qq", "-o", "/dev/null", "-e", "trace=\(call)", "-e", "inject=\(injection)"]
        return try RunningExerciser(Exerciser.words(command, on: location), under: [strace] + options).finish()
    }
}
