// SPDX-License-Identifier: Apache-2.0
// An app that keeps a credential for itself and its widget: app add|update|delete [access group]. Prints the status.

import Foundation
import Security

var item: [CFString: Any] = [
    kSecClass: kSecClassGenericPassword,
    kSecAttrService: "com.example.remote.credentials",
    kSecAttrAccount: "default",
]
if CommandLine.arguments.count > 2 { item[kSecAttrAccessGroup] = CommandLine.arguments[2] }
let credential = [kSecValueData: Data(#"{"address":"192.0.2.14","key":"9ba71d29"}"#.utf8)]

switch CommandLine.arguments[1] {
case "add": print(SecItemAdd(item.merging(credential) { $1 } as CFDictionary, nil))
case "update": print(SecItemUpdate(item as CFDictionary, credential as CFDictionary))
default: print(SecItemDelete(item as CFDictionary))
}
