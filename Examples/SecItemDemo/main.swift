// SPDX-License-Identifier: Apache-2.0
// Ordinary Apple keychain code, compiled on Linux: add, read, update and delete with the SecItem functions.

import Foundation
import Security

let item: [CFString: Any] = [
    kSecClass: kSecClassGenericPassword, kSecAttrService: "example.com", kSecAttrAccount: "bob",
]
let secret = [kSecValueData: Data("battery staple".utf8)]
var status = SecItemAdd(item.merging(secret) { $1 } as CFDictionary, nil)
if status == errSecDuplicateItem { status = SecItemUpdate(item as CFDictionary, secret as CFDictionary) }

var result: CFTypeRef?
status = SecItemCopyMatching(item.merging([kSecReturnData: true]) { $1 } as CFDictionary, &result)
if status == errSecSuccess, let secret = result as? Data { print("bob's secret has \(secret.count) bytes") }

expect(errSecSuccess, status, "bob, added and read")

// What another program has stored: `keychainctl set --service example.com --account alice`.
status = SecItemCopyMatching(account("alice", [kSecReturnData: true]), &result)
expect(errSecSuccess, status, "alice, stored by another program")
print("alice's secret is: \(String(decoding: result as? Data ?? Data(), as: UTF8.self))")

let changes = [kSecValueData: Data("changed by SecItemUpdate".utf8)] as CFDictionary
expect(errSecSuccess, SecItemUpdate(account("bob"), changes), "bob, updated")
expect(errSecSuccess, SecItemAdd(account("carol"), nil), "carol, added")
expect(errSecDuplicateItem, SecItemAdd(account("carol"), nil), "carol, added again")
expect(errSecSuccess, SecItemDelete(account("carol")), "carol, deleted")
expect(errSecItemNotFound, SecItemDelete(account("carol")), "carol, deleted again")

/// An item of the service, named by its account.
func account(_ name: String, _ more: [CFString: Any] = [:]) -> CFDictionary {
    let item: [CFString: Any] = [
        kSecClass: kSecClassGenericPassword, kSecAttrService: "example.com", kSecAttrAccount: name,
    ]
    return item.merging(more) { $1 } as CFDictionary
}

/// Ends the demonstration if a call did not do what it should.
func expect(_ wanted: OSStatus, _ status: OSStatus, _ call: String) {
    print("\(call): \(status), \(SecCopyErrorMessageString(status, nil) ?? "")")
    if status != wanted { exit(1) }
}
