// SPDX-License-Identifier: Apache-2.0
// A vault of format 5, which is in a ring, stays readable for good, and as it was left.

import Foundation
import KeychainEngine
import KeychainSync
import Testing

@testable import KeychainVault

struct FormatFixture5Tests {
    private static let folder = FormatReader.testsFolder + "/Fixtures/vault-5"

    private static func copy() throws -> TestVault { try TestVault(copying: folder) }

    private static func expectedItems() throws -> [JSON] { try JSON(fileAt: folder + "/items.json").elements }

    /// Not one of those in which the tool keeps earlier versions, or of the ring's keys.
    private static func isOfUser(_ item: JSON) -> Bool {
        item["attributes"]?["agrp"]?["value"] != JSON.text("swift-keychain.sync")
    }

    @Test func frozenVault_opened_hasTheItemsOfThen() throws {
        let test = try Self.copy()
        let expected = try Self.expectedItems().filter(Self.isOfUser)
        #expect(expected.count == 17)
        #expect(try test.itemsByRow().filter(Self.isOfUser) == expected)
        #expect(try test.vault.status().formatVersion == 5)
    }

    @Test func frozenVault_opened_isAsItsHeadSays() throws {
        let test = try Self.copy()
        #expect(try test.vault.headFindings(wholeVault: true) == [])
        try test.engine.add(.genericPassword("s", "a", value: "new"))
        #expect(try test.another().headFindings(wholeVault: true) == [])
    }

    @Test func frozenVault_opened_isInItsRingAndHasWhatWasNotSent() async throws {
        let test = try Self.copy()
        let status = try await KeychainSync(vault: test.vault).status()
        #expect(status.machines.map(\.name) == ["first"])
        #expect(status.pending == 2)
    }

    @Test(.enabled(if: FormatReader.isAvailable, FormatReader.requirement))
    func frozenVault_readByTheReader_isAsItsHeadSaysAndHasTheItemsOfThen() throws {
        let test = try Self.copy()
        let reading = try FormatReader.read(test.location)
        #expect(try reading.items == Self.expectedItems())
        #expect(reading.found["head"]?["sequence"] == .number(38))
        #expect(reading.found["head"]?["differs"] == .list([]))
        #expect(reading.status == 0)
    }
}
