// SPDX-License-Identifier: Apache-2.0
// Names made safe to show: whoever can store an item must not be able to drive the terminal of who lists it.

import Foundation

extension String {
    /// The text with control characters, line breaks and invisible formatting (direction marks, joiners) spelled out.
    ///
    /// Terminals obey escape sequences, and direction marks make a name look like another.
    func escapingControls(keeping kept: Unicode.Scalar? = nil) -> String {
        var result = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            if scalar.isInvisible, scalar != kept {
                result.append(contentsOf: scalar.spelledOut.unicodeScalars)
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }

    /// The same for JSON, where it changes nothing of the meaning: what JSON lets stand and a terminal may obey
    /// becomes `\uXXXX`. Such characters occur only inside strings.
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

extension Unicode.Scalar {
    fileprivate var isInvisible: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: true
        default: false
        }
    }

    fileprivate var spelledOut: String {
        switch self {
        case "\n": "\\n"
        case "\r": "\\r"
        case "\t": "\\t"
        default: "\\u{" + String(value, radix: 16) + "}"
        }
    }
}

extension Data {
    /// Bytes that are not text: `0x` and two digits each.
    var hexadecimal: String { "0x" + map { $0.hexadecimal(digits: 2) }.joined() }
}

extension FixedWidthInteger {
    fileprivate func hexadecimal(digits: Int) -> String {
        let text = String(self, radix: 16)
        return String(repeating: "0", count: Swift.max(0, digits - text.count)) + text
    }
}
