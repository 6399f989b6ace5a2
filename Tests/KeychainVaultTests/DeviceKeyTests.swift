// SPDX-License-Identifier: Apache-2.0
// The device key: missing, wrong, damaged or exposed, each a clear outcome, and never replaced behind the user's back.

import Foundation
import KeychainEngine
import Testing

@testable import KeychainVault

struct DeviceKeyTests {
    private func vaultWithItem() throws -> TestVault {
        let test = try TestVault()
        try test.engine.add(.genericPassword("s", "a", value: "v"))
        return test
    }

    private func check(_ test: TestVault, _ expected: KeychainError.Reason) {
        let reading = failure { _ = try test.reopened().value(.genericPassword("s", "a")) }
        let writing = failure { try test.reopened().add(.genericPassword("s", "b", value: "w")) }
        #expect(reading?.reason == expected)
        #expect(writing?.reason == expected)
        #expect(reading?.message.contains(test.location.deviceKeyFile) == true)
    }

    @Test func deviceKey_missing_isUnavailableAndNotReplaced() throws {
        let test = try vaultWithItem()
        try FileManager.default.removeItem(atPath: test.location.deviceKeyFile)
        check(test, .unavailable)
        #expect(!FileManager.default.fileExists(atPath: test.location.deviceKeyFile))
    }

    @Test func deviceKey_ofAnotherVault_isAuthenticationFailed() throws {
        let (test, other) = (try vaultWithItem(), try vaultWithItem())
        let key = try Data(contentsOf: URL(fileURLWithPath: other.location.deviceKeyFile))
        try test.place(key, at: test.location.deviceKeyFile)
        check(test, .authenticationFailed)
        #expect(try Data(contentsOf: URL(fileURLWithPath: test.location.deviceKeyFile)) == key)
    }

    /// The folder of the key, and one further up.
    @Test(arguments: [1, 2]) func deviceKey_inAFolderThatAllMayChange_isRefusedWhenItIsRead(levels: Int) throws {
        let test = try TestVault(keyFolder: "a/b")
        try test.engine.add(.genericPassword("s", "a", value: "v"))
        var folder = test.location.deviceKeyFile
        for _ in 1...levels { folder = FileSafety.parent(of: folder) }
        chmod(folder, 0o777)
        #expect(reason { _ = try test.reopened().value(.genericPassword("s", "a")) } == .unsafeLocation)
        #expect(reason { try test.reopened().add(.genericPassword("s", "b", value: "w")) } == .unsafeLocation)
        chmod(folder, 0o1777)
        #expect(try test.reopened().value(.genericPassword("s", "a")) == Data("v".utf8))
    }

    @Test func deviceKey_cutAnywhere_isCorrupt() throws {
        let test = try vaultWithItem()
        let key = try Data(contentsOf: URL(fileURLWithPath: test.location.deviceKeyFile))
        for length in 0..<key.count {
            try test.place(key.prefix(length), at: test.location.deviceKeyFile)
            #expect(reason { _ = try test.reopened().value(.genericPassword("s", "a")) } == .corrupt, "\(length)")
        }
        try test.place(key + [0], at: test.location.deviceKeyFile)
        check(test, .corrupt)
    }

    @Test func deviceKey_withAnyByteFlipped_isCorrupt() throws {
        let test = try vaultWithItem()
        let key = try Data(contentsOf: URL(fileURLWithPath: test.location.deviceKeyFile))
        for index in key.indices {
            var changed = key
            changed[index] ^= 0x01
            try test.place(changed, at: test.location.deviceKeyFile)
            #expect(reason { _ = try test.reopened().value(.genericPassword("s", "a")) } == .corrupt, "byte \(index)")
        }
    }

    @Test func deviceKey_readableByOthers_isRefused() throws {
        let test = try vaultWithItem()
        #expect(chmod(test.location.deviceKeyFile, 0o644) == 0)
        check(test, .unsafeLocation)
    }

    @Test func deviceKey_behindALink_isRefused() throws {
        let test = try vaultWithItem()
        let path = test.location.deviceKeyFile
        try FileManager.default.moveItem(atPath: path, toPath: path + ".moved")
        #expect(symlink(path + ".moved", path) == 0)
        check(test, .unsafeLocation)
    }

    @Test func deviceKey_isAPipe_isRefusedWithoutHanging() throws {
        let test = try vaultWithItem()
        try FileManager.default.removeItem(atPath: test.location.deviceKeyFile)
        #expect(mkfifo(test.location.deviceKeyFile, 0o600) == 0)
        check(test, .unsafeLocation)
    }

    @Test func deviceKey_present_servesASecondVault() throws {
        let test = try vaultWithItem()
        let second = try VaultLocation(folder: test.root + "/second", deviceKeyFile: test.location.deviceKeyFile)
        try Engine(store: Vault(second)).add(.genericPassword("s", "a", value: "other"))
        #expect(try test.reopened().text(.genericPassword("s", "a")) == "v")
        #expect(try Engine(store: Vault(second)).text(.genericPassword("s", "a")) == "other")
    }
}
