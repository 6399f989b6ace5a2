// SPDX-License-Identifier: Apache-2.0
// Two homes with a vault each, in a ring over one shared folder.

import Foundation
public import KeychainEngine
import KeychainSync
@_spi(Wrappers) import KeychainVault

/// Machines that share their synchronizable items.
public final class TwoMachines: Sendable {
    private let folder: TemporaryFolder
    private let vaults: [Vault]
    private let syncs: [KeychainSync]

    public var laptop: any ItemStore { vaults[0] }
    public var desktop: any ItemStore { vaults[1] }

    public init() async throws {
        let folder = try TemporaryFolder("keychain-machines")
        let shared = folder.path + "/shared"
        try FileManager.default.createDirectory(atPath: shared, withIntermediateDirectories: false)
        let vaults = try ["laptop", "desktop"].map { home in
            let root = folder.path + "/" + home
            return Vault.unshared(
                try VaultLocation(folder: root + "/vault", deviceKeyFile: root + "/config/device.key"), .quick)
        }
        let (laptop, desktop) = (try KeychainSync(vault: vaults[0]), try KeychainSync(vault: vaults[1]))
        (self.folder, self.vaults, syncs) = (folder, vaults, [laptop, desktop])
        try await laptop.found(name: "laptop", at: .folder(shared))
        let code = try await laptop.invite(name: "desktop")
        async let joined = desktop.join(code: code, at: .folder(shared))
        let admission = Task {
            while try await laptop.now().admitted.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        }
        _ = try await joined
        try await admission.value
    }

    /// What each machine has reaches the other.
    public func exchange() async throws {
        for _ in 0..<2 { for sync in syncs { try await sync.now(timeout: .seconds(900)) } }
    }
}
