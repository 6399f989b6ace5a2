// SPDX-License-Identifier: Apache-2.0
// Text made safe to show: an attacker who chooses a name must not control the terminal of a user who reads it.

extension String {
    /// The text with control characters, line breaks and invisible formatting (direction marks, joiners) spelled out.
    ///
    /// Terminals execute escape sequences, and direction marks make a name look like another.
    package func escapingControls(keeping kept: Unicode.Scalar? = nil) -> String {
        var result = String.UnicodeScalarView()
        for index in unicodeScalars.indices {
            let scalar = unicodeScalars[index]
            if scalar.isInvisible, scalar != kept, !joinsEmoji(at: index) {
                result.append(contentsOf: scalar.spelledOut.unicodeScalars)
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }

    /// Whether it is the joiner inside an emoji of several parts, such as a family. Anywhere else a joiner is
    /// invisible.
    private func joinsEmoji(at index: Index) -> Bool {
        let scalars = unicodeScalars
        let next = scalars.index(after: index)
        guard scalars[index] == "\u{200D}", index > scalars.startIndex, next < scalars.endIndex else { return false }
        let before = scalars[scalars.index(before: index)]
        return (before.isEmoji || before == "\u{FE0F}") && scalars[next].isEmoji
    }
}

extension Unicode.Scalar {
    /// Whether a terminal may execute it, or show nothing for it.
    package var isInvisible: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: true
        default: false
        }
    }

    /// Digits have the emoji property, but are not emoji by themselves.
    fileprivate var isEmoji: Bool { !isASCII && properties.isEmoji }

    fileprivate var spelledOut: String {
        switch self {
        case "\n": "\\n"
        case "\r": "\\r"
        case "\t": "\\t"
        default: "\\u{" + String(value, radix: 16) + "}"
        }
    }
}
