// SPDX-License-Identifier: Apache-2.0
// Output made safe to show: an attacker who can store an item must not control the terminal of a user who lists it.

import Foundation
import KeychainAuthenticators

extension String {
    /// `escapingControls` for JSON, without changing its meaning: characters that JSON allows but a terminal may
    /// execute become `\uXXXX`. Such characters only occur inside strings.
    var escapingControlsInJSON: String {
        var result = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            if scalar.isInvisible, !scalar.isASCII || scalar.value == 0x7F {
                let units = String(scalar).utf16.map { "\\u" + $0.hexadecimal(digits: 4) }
                result.append(contentsOf: units.joined().unicodeScalars)
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }
}

extension FixedWidthInteger {
    fileprivate func hexadecimal(digits: Int) -> String {
        let text = String(self, radix: 16)
        return String(repeating: "0", count: Swift.max(0, digits - text.count)) + text
    }
}
