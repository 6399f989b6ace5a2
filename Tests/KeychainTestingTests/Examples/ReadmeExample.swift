// SPDX-License-Identifier: Apache-2.0
// The example of KeychainTesting in README.md, word for word.

import KeychainKit
import KeychainTesting
import Testing

@Test func token_whileTheKeychainIsLocked_isAnErrorAndNotNil() throws {
    let keychain = ScriptedStore()  // in memory
    keychain.fail(.locked, on: [.select])  // the next read finds it locked
    let store = SecretStore(service: "com.example.app", store: keychain)
    let error = #expect(throws: KeychainError.self) { try store.read(String.self, for: "token") }
    #expect(error?.reason == .locked)
    #expect(try store.read(String.self, for: "token") == nil)
}
