// SPDX-License-Identifier: Apache-2.0
// A program as an app's author writes it: an item that asks for the user, and certificates. Prints the status of each call.

import Foundation
import LocalAuthentication
import Security

// asking-app add | read | read-with-context | evaluate | delete | keep CERTIFICATE | judge CERTIFICATE ANCHOR

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
    return replied.wait(timeout: .now() + 900) == .success ? code.value : 1
}

final class LastCode: @unchecked Sendable {
    var value = 1
}

/// Of the file that an argument names.
func certificate(_ index: Int) -> SecCertificate {
    let bytes = FileManager.default.contents(atPath: CommandLine.arguments[index])
    guard let bytes, let certificate = SecCertificateCreateWithData(nil, bytes as CFData) else { exit(66) }
    return certificate
}

#if Certificates
    func judge() -> Int {
        var trust: SecTrust?
        SecTrustCreateWithCertificates(certificate(2), SecPolicyCreateBasicX509(), &trust)
        guard let trust else { return 1 }
        SecTrustSetAnchorCertificates(trust, [certificate(3)] as CFArray)
        var error: CFError?
        return SecTrustEvaluateWithError(trust, &error) ? 0 : CFErrorGetCode(error)
    }
#endif

switch CommandLine.arguments.dropFirst().first {
case "add": print(add())
case "read": print(read())
case "read-with-context": print(readWithContext())
case "evaluate": print(evaluate())
case "delete": print(SecItemDelete(account() as CFDictionary))
case "keep": print(SecItemAdd([kSecValueRef: certificate(2)] as CFDictionary, nil))
#if Certificates
    case "judge": print(judge())
#endif
default: exit(64)
}
