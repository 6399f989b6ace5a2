// SPDX-License-Identifier: Apache-2.0
// Paths of vaults: which are refused, which are one, and which the environment gives.

import Foundation
import KeychainEngine
import KeychainTestSupport
import Testing

@testable import KeychainVault

extension LocationTests {
    @Test(arguments: ["relative", "", "/", "/a/../b", "/a\0b"])
    func location_thatIsNotAPlainAbsolutePath_isRefused(_ path: String) {
        #expect(reason { _ = try VaultLocation(folder: path, deviceKeyFile: "/k/key") } == .unsafeLocation)
        #expect(reason { _ = try VaultLocation(folder: "/v", deviceKeyFile: path) } == .unsafeLocation)
    }

    @Test func locations_thatOnlyLookAlike_areTwo() throws {
        let composed = try VaultLocation(folder: "/v/\u{E9}", deviceKeyFile: "/k")
        let decomposed = try VaultLocation(folder: "/v/e\u{301}", deviceKeyFile: "/k")
        #expect(composed != decomposed)
        #expect(Vault.at(composed) !== Vault.at(decomposed))
    }

    @Test(arguments: ["/v/\u{301}key", "/v/\u{301}sub/key"])
    func deviceKey_behindASlashWithACombiningMark_isStillInsideTheVaultFolder(_ key: String) {
        #expect(reason { _ = try VaultLocation(folder: "/v", deviceKeyFile: key) } == .unsafeLocation)
    }

    @Test func parent_ofANameThatBeginsWithACombiningMark_isTheFolder() {
        #expect(FileSafety.parent(of: "/a/b/\u{301}c") == "/a/b")
    }

    @Test(arguments: ["/v/bad\u{FFFD}name", "/" + String(repeating: "v", count: 500)])
    func location_thatSystemOrSQLiteCannotTake_isRefused(_ path: String) {
        #expect(reason { _ = try VaultLocation(folder: path, deviceKeyFile: "/k/key") } == .unsafeLocation)
    }

    @Test func locations_spelledDifferently_areOne() throws {
        #expect(
            try VaultLocation(folder: "/a//b/./c/", deviceKeyFile: "/k")
                == VaultLocation(folder: "/a/b/c", deviceKeyFile: "/k"))
    }

    @Test(arguments: ["/v/key", "/v/sub/key", "/v/./key", "//v/key", "/v", "/v/."])
    func deviceKey_insideTheVaultFolder_isRefused(_ key: String) {
        #expect(reason { _ = try VaultLocation(folder: "/v", deviceKeyFile: key) } == .unsafeLocation)
    }

    @Test func deviceKey_ledIntoTheVaultFolderByALink_isRefused() throws {
        let test = try TestVault()
        let location = try VaultLocation(folder: test.location.folder, deviceKeyFile: test.root + "/link/device.key")
        #expect(mkdir(test.location.folder, 0o700) == 0)
        #expect(symlink(test.location.folder, test.root + "/link") == 0)
        #expect(reason { try Engine(store: Vault(location)).add(.genericPassword("s", "a")) } == .unsafeLocation)
    }

    // MARK: - From the environment

    @Test(arguments: [
        (["HOME": "/h"], "/h/.local/share/swift-keychain", "/h/.config/swift-keychain/device.key"),
        (
            ["HOME": "/h", "XDG_DATA_HOME": "/d", "XDG_CONFIG_HOME": "/c"], "/d/swift-keychain",
            "/c/swift-keychain/device.key"
        ),
        (
            ["HOME": "/h", "XDG_DATA_HOME": "d"], "/h/.local/share/swift-keychain",
            "/h/.config/swift-keychain/device.key"
        ),
        (["KEYCHAIN_VAULT": "/v", "KEYCHAIN_DEVICE_KEY": "/k"], "/v", "/k"),
        (
            [
                "HOME": "/h", "KEYCHAIN_VAULT": "", "KEYCHAIN_DEVICE_KEY": "", "XDG_DATA_HOME": "",
                "XDG_CONFIG_HOME": "",
            ],
            "/h/.local/share/swift-keychain", "/h/.config/swift-keychain/device.key"
        ),
    ])
    func location_fromEnvironment_followsTheVariables(
        _ environment: [String: String], _ folder: String, _ deviceKeyFile: String
    ) throws {
        let location = try VaultLocation.fromEnvironment(environment)
        #expect((location.folder, location.deviceKeyFile) == (folder, deviceKeyFile))
    }

    @Test(arguments: [[:], ["HOME": ""], ["HOME": "relative"], ["KEYCHAIN_VAULT": "/v"]])
    func location_withoutHome_isUnavailable(_ environment: [String: String]) {
        #expect(reason { _ = try VaultLocation.fromEnvironment(environment) } == .unavailable)
    }

    @Test func store_ofEnvironmentWithoutHome_saysSoAtEachCall() {
        let engine = Engine(store: Vault.ofEnvironment([:]))
        #expect(reason { _ = try engine.value(.genericPassword("s", "a")) } == .unavailable)
        #expect(reason { try engine.add(.genericPassword("s", "a")) } == .unavailable)
        #expect(reason { try engine.update(.genericPassword("s", "a"), value: "v") } == .unavailable)
        #expect(reason { try engine.delete(.genericPassword("s", "a")) } == .unavailable)
    }
}
