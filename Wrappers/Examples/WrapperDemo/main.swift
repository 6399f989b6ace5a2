// SPDX-License-Identifier: Apache-2.0
// A program that was written for a wrapper, as in the README.

import JSKeychain

let keychain = JSKeychain()
try keychain.save("tr0ub4dor", service: "com.example.app", account: "carol")
let token: String = try keychain.read(service: "com.example.app", account: "carol")
print("carol's token has \(token.count) characters")
