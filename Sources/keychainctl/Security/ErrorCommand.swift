// SPDX-License-Identifier: Apache-2.0
// security error: the meaning of a number.

import Foundation
import KeychainKit

enum ErrorCommand {
    /// Always ends with 1, like macOS's.
    static func explain(_ call: SecurityCall) throws(SecurityFailure) {
        // Numbers begin with a dash, so there are no options.
        guard let first = call.words.first, first != "-h" else { throw .usage() }
        for word in call.words {
            guard let number = number(word) else {
                throw SecurityFailure(text: "security: error takes numbers, such as -25300 or 0xFFFF9D2C", status: 1)
            }
            let digits = String(UInt32(bitPattern: number), radix: 16, uppercase: true)
            let padded = String(repeating: "0", count: 8 - digits.count) + digits
            try naming("write") { () throws(KeychainError) in
                try Output.write("Error: 0x\(padded) \(number) \(SecurityStatus.text(number))\n")
            }
        }
        throw SecurityFailure(text: nil, status: 1)
    }

    private static func number(_ word: String) -> Int32? {
        if let number = Int32(word) { return number }
        let lower = word.lowercased()
        guard lower.hasPrefix("0x") else { return UInt32(word).map { Int32(bitPattern: $0) } }
        return UInt32(lower.dropFirst(2), radix: 16).map { Int32(bitPattern: $0) }
    }
}
