// SPDX-License-Identifier: Apache-2.0
// Text made safe to show: an attacker who chooses a name must not control the terminal of a user who reads it.

extension String {
    /// The text with control characters, line breaks and invisible formatting (direction marks, joiners) spelled out.
    ///
    /// Terminals obey escape sequences, and direction marks make a name look like another.
    package func escapingControls(keeping kept: Unicode.Scalar? = nil) -> String {
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
}

extension Unicode.Scalar {
    /// Whether a terminal may obey it, or shows nothing for it.
    package var isInvisible: Bool {
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
