// SPDX-License-Identifier: Apache-2.0
// Apple's module names: either import brings all of the API, as it does on Apple's platforms.

import Foundation
import LocalAuthentication
import Security
import Testing

struct ModuleNameTests {
    @Test func securityModule_imported_hasTheItemFunctions() {
        let add: (Security.CFDictionary, UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus = Security.SecItemAdd
        #expect(add([:] as CFDictionary, nil) == errSecParam)
    }

    @Test func localAuthenticationModule_imported_bringsSecurity() {
        #expect(LocalAuthentication.kSecClass as String == "class")
    }
}
