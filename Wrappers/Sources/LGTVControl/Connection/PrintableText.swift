// SPDX-License-Identifier: Apache-2.0
// Makes text from other sources safe to show.

import Foundation

enum PrintableText {
    private static let limit = 200

    /// At most two hundred characters. Characters that could move the cursor or change the direction of text are
    /// escaped.
    ///
    /// - Parameter hidden: A text that is removed if the other side repeats it: the client key.
    static func of(_ text: String, hiding hidden: String? = nil) -> String {
        // Before shortening: a key that is cut in two would not be found.
        let text = hidden.map { $0.isEmpty ? text : text.replacingOccurrences(of: $0, with: "…") } ?? text
        let scalars = text.unicodeScalars.prefix(limit + 1)
        let shown = scalars.prefix(limit).map { isHarmless($0) ? String($0) : "\\u{\(String($0.value, radix: 16))}" }
        return shown.joined() + (scalars.count > limit ? "…" : "")
    }

    private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }

    /// The text of a system error.
    static func reason(of error: (any Error)?) -> String {
        switch error {
        case nil: "There is no address to send it to."
        case let error as any LocalizedError: of(error.errorDescription ?? "\(error)")
        case let error?: of("\(error)")
        }
    }
}
