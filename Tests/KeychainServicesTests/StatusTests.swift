// SPDX-License-Identifier: Apache-2.0
// Every status code is explained, in one line.

import Foundation
import KeychainServices
import Testing

@Suite("Status messages")
struct StatusTests {
    @Test func message_ofEveryKnownCode_isOneSpecificLine() throws {
        for row in coreStatusRows + trustStatusRows {
            let message = try #require(SecCopyErrorMessageString(row.actual, nil)) as String
            #expect(!message.hasPrefix("OSStatus "), "\(row.name)")
            #expect(message.hasSuffix("."), "\(row.name)")
            #expect(message.rangeOfCharacter(from: .newlines) == nil, "\(row.name)")
            #expect(!message.contains("  "), "\(row.name)")
        }
    }

    @Test func message_ofDifferentCodes_differs() {
        let rows = coreStatusRows + trustStatusRows
        let messages = rows.map { (SecCopyErrorMessageString($0.actual, nil) ?? "") as String }
        #expect(Set(messages).count == Set(rows.map(\.actual)).count)
    }

    @Test(arguments: [
        (errSecItemNotFound, "The specified item could not be found in the keychain."),
        (errSecDuplicateItem, "The specified item already exists in the keychain."),
    ])
    func message_thatScriptsCompare_hasTheExactWords(status: OSStatus, words: String) {
        #expect(SecCopyErrorMessageString(status, nil) as String? == words)
    }

    @Test(arguments: [OSStatus(-99_999_999), 1, .min, .max])
    func message_ofUnknownCode_givesTheNumber(status: OSStatus) {
        #expect(SecCopyErrorMessageString(status, nil) as String? == "OSStatus \(status)")
    }

    @Test func message_ofOneUnknownCode_isSpelledOut() {
        #expect(SecCopyErrorMessageString(-99_999_999, nil) as String? == "OSStatus -99999999")
    }

    @Test func noErr_comparedWithErrSecSuccess_isEqual() {
        #expect(noErr == errSecSuccess)
    }
}
