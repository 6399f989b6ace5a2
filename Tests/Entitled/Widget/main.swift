// SPDX-License-Identifier: Apache-2.0
// A widget that reads what its app has stored: widget [access group]. Prints the status, and what it would connect to.

import Foundation
import Security

struct Credential: Decodable {
    let address: String
    let key: String
}

var query: [CFString: Any] = [
    kSecClass: kSecClassGenericPassword,
    kSecAttrService: "com.example.remote.credentials",
    kSecAttrAccount: "default",
    kSecReturnData: true,
]
if CommandLine.arguments.count > 1 { query[kSecAttrAccessGroup] = CommandLine.arguments[1] }

var result: CFTypeRef?
let status = SecItemCopyMatching(query as CFDictionary, &result)
print(status)
if let data = result as? Data { print(try JSONDecoder().decode(Credential.self, from: data).address) }
