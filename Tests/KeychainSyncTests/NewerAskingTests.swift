// SPDX-License-Identifier: Apache-2.0
// Machines that ask to be let in where a newer version has asked or invited.

import Foundation
import KeychainCrypto
import KeychainEngine
import KeychainTestSupport
import KeychainVault
import SecretMemory
import Testing

@testable import KeychainSync
@testable import KeychainSyncCore

struct NewerAskingTests {
    private let folder: TemporaryFolder
    private let place: CarrierPlace
    private let laptop: Machine
    private let desktop: Machine

    init() async throws {
        folder = try TemporaryFolder("keychain-asking")
        try FileManager.default.createDirectory(atPath: folder.path + "/shared", withIntermediateDirectories: true)
        place = .folder(folder.path + "/shared")
        laptop = try Machine(folder.path, "laptop")
        desktop = try Machine(folder.path, "desktop")
        _ = try await laptop.member.found(name: "laptop", at: place)
    }

    private func invite(_ name: String = "desktop") async throws -> SecretBytes {
        try await laptop.member.invite(name: name, for: .seconds(3600))
    }

    private func join(_ code: SecretBytes) async -> KeychainError? {
        await #expect(throws: KeychainError.self) { try await desktop.member.join(code, at: place, wait: .zero) }
    }

    // MARK: - Keys

    private static let selection: Selection = {
        let conditions: Attributes = [.service: .string("swift-keychain.sync joining"), .synchronizable: .number(0)]
        return Selection(itemClass: .genericPassword, conditions: conditions, groups: [RingKeyItem.group])
    }()

    /// As if a newer version had asked on this machine, and was interrupted.
    private func storeNewerKeys(for code: SecretBytes) throws {
        let id = InvitationKeys(code: code).id
        try desktop.vault.inRing { (ring) throws(KeychainError) in
            try AskingKeysItem.write(AskingKeys(keys: .make(), offer: Data()), for: id, ring)
            // The format follows the state of the vault.
            let format = try ring.incarnation().count + MemoryLayout<UInt32>.size
            _ = try ring.items.update(Self.selection, .none) { stored in
                var item = stored.item
                item.value?[format] = 2
                return item
            }
        }
    }

    private func storedKeys() throws -> [Data?] {
        try desktop.vault.inRing { (ring) throws(KeychainError) in
            try ring.items.select(Self.selection, limit: nil, includingValues: true, .none).items.map(\.item.value)
        }
    }

    @Test(arguments: [true, false])
    func keysOfANewerFormat_areReportedAndStay(isSameInvitation: Bool) async throws {
        let (code, other) = (try await invite(), try await invite("web"))
        try storeNewerKeys(for: isSameInvitation ? code : other)
        let stored = try storedKeys()
        let error = await join(code)
        #expect(error?.reason == .newerFormat && error?.message.contains("keychainctl rotate") == true)
        #expect(try storedKeys() == stored && stored.count == 1)
    }

    @Test func keysOfANewerFormat_ofAVaultThatHasOtherKeysNow_areReplaced() async throws {
        try storeNewerKeys(for: try await invite("web"))
        try desktop.vault.rotate()
        try await laptop.admit(desktop, at: place)
        #expect(try storedKeys().isEmpty)
    }

    // MARK: - Invitations

    @Test func invitationOfANewerFormat_isReported() async throws {
        let code = try await invite()
        let ring = try #require(try await laptop.member.rings(at: place).first)
        let carrier = try laptop.member.carrier(of: ring, at: place)
        let name = Joiner(code: code, keys: .make()).objectName
        let object = try #require(try await carrier.read([name]).objects.first).bytes
        var content = [UInt8](object.dropLast(32))
        // The format follows the kind.
        content[4] = 2
        try await carrier.remove([name])
        _ = try await carrier.publish(
            name, Data(content) + Authentication.code(for: content, key: InvitationKeys(code: code).inviter))
        let error = await join(code)
        #expect(error?.reason == .newerFormat && error?.message.contains("Update this machine") == true)
    }
}
