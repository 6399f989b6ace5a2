// SPDX-License-Identifier: Apache-2.0
// A program as an app's author writes it: one item that asks for the user. Prints the status of each call.

import Foundation
import LocalAuthentication
import Security

// asking-app add | read | read-with-context | evaluate | delete

func account() -> [CFString: Any] {
    [kSecClass: kSecClassGenericPassword, kSecAttrService: "com.example.asking", kSecAttrAccount: "alice"]
}

func add() -> OSStatus {
    let control = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .userPresence, nil)
    var item = account()
    item[kSecAttrAccessControl] = control
    item[kSecValueData] = Data("protected".utf8)
    return SecItemAdd(item as CFDictionary, nil)
}

func read(_ more: [CFString: Any] = [:]) -> OSStatus {
    var result: CFTypeRef?
    let query = account().merging([kSecReturnData: true]) { $1 }.merging(more) { $1 }
    let status = SecItemCopyMatching(query as CFDictionary, &result)
    if let value = result as? Data { print(String(decoding: value, as: UTF8.self)) }
    return status
}

func readWithContext() -> OSStatus {
    let context = LAContext()
    context.localizedReason = "see the secret of alice"
    let first = read([kSecUseAuthenticationContext: context])
    return first == errSecSuccess ? read([kSecUseAuthenticationContext: context]) : first
}

/// Prints what the reply says, as it may come on another thread.
func evaluate() -> Int {
    let code = LastCode()
    let replied = DispatchSemaphore(value: 0)
    LAContext().evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "see the secret of alice") { _, error in
        code.value = (error as NSError?)?.code ?? 0
        replied.signal()
    }
    // Never so long, unless no reply comes at all.
    return replied.wait(timeout: .now() + 120) == .success ? code.value : 1
}

final class LastCode: @unchecked Sendable {
    var value = 1
}

switch CommandLine.arguments.dropFirst().first {
case "add": print(add())
case "read": print(read())
case "read-with-context": print(readWithContext())
case "evaluate": print(evaluate())
case "delete": print(SecItemDelete(account() as CFDictionary))
default: exit(64)
}
