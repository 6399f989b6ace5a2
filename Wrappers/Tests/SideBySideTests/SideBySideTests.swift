// SPDX-License-Identifier: Apache-2.0
// All wrappers in one file, and the types whose names several of them declare.

import Foundation
import JSKeychain
import Keychain
import KeychainClient
@_spi(Wrappers) import KeychainKit
@_spi(Wrappers) import KeychainServices
import LGTVControl
import SecureStorage
import Testing
import Valet

@Suite("Wrappers side by side")
struct SideBySideTests {
    private let memory = MemoryStore()

    @Test func errors_ofTheSameName_areToldApartByTheirModules() {
        let errors: [any Error] = [
            KeychainKit.KeychainError(.itemNotFound, "There is none."),
            Keychain.KeychainError.unexpectedStatus(errSecItemNotFound, "There is none."),
            LGTVControl.KeychainError.unexpectedStatus(errSecItemNotFound),
            Valet.KeychainError.itemNotFound,
            JSKeychainError.itemNotFound,
            SecureStorageError.notFound,
        ]
        #expect(errors.map { ($0 as NSError).code } == Array(repeating: -25300, count: errors.count))
        #expect(errors.filter { $0 is Valet.KeychainError }.count == 1)
        #expect(errors.filter { $0 is Keychain.KeychainError }.count == 1)
        #expect(errors.filter { $0 is LGTVControl.KeychainError }.count == 1)
    }

    @Test func accessibilities_ofTheSameName_areToldApart() {
        let ofValet: Valet.Accessibility = .afterFirstUnlock
        let ofKit: KeychainKit.Accessibility = .afterFirstUnlock
        #expect("\(ofValet)" != "\(ofKit)" || type(of: ofValet) != type(of: ofKit) as Any.Type)
    }

    /// Each keeps its own, in one keychain, and finds it again.
    @Test func wrappers_overOneKeychain_doNotMeet() async throws {
        let valet = Valet.valet(with: Identifier(nonEmpty: "app")!, accessibility: .whenUnlocked).using(memory)
        let keychain = JSKeychain().using(memory)
        let value = ValueKeychainStore(accountName: "token", accessGroup: nil).using(memory)
        let storage = KeychainSecureStorage(service: "app").using(memory)
        let manager = KeychainManager().using(memory)

        try valet.setString("valet", forKey: "token")
        try await keychain.save("js", service: "app.js", account: "token")
        try value.set("value")
        try await storage.save("storage", for: "token")
        try manager.save(["manager"], service: "app.tv", account: "token")

        #expect(try valet.string(forKey: "token") == "valet")
        #expect(try await keychain.read(service: "app.js", account: "token") == "js")
        #expect(try value.get() == "value")
        #expect(try await storage.load(for: "token") == "storage")
        #expect(try manager.load([String].self, service: "app.tv", account: "token") == ["manager"])
        #expect(try await KeychainCatalog(store: memory).items().count == 5)
    }

    @Test func client_overAValet_standsBesideTheRest() async throws {
        let valet = Valet.valet(with: Identifier(nonEmpty: "client")!, accessibility: .whenUnlocked).using(memory)
        let client = KeychainClient.live(valet: valet)
        try await client.setJwtToken("t0ken")
        #expect(try await client.getJwtToken() == "t0ken")
        #expect(try valet.string(forKey: KeychainKeys.jwtToken) == "t0ken")
    }
}
