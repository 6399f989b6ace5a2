// SPDX-License-Identifier: Apache-2.0
// Tables for people, whose columns align in a terminal for all characters.

import KeychainAuthenticators

/// Columns that are as wide as their longest cell, or narrower to meet a limit.
struct TextTable {
    let header: [String]
    let rows: [[String]]
    /// The titles of the columns that may be shortened; shortened cells end with `…`.
    var cut: [String] = []

    private static let gap = 2
    private static let narrowest = 5

    /// - Parameter limit: The columns of the terminal; `nil` for no limit.
    func text(within limit: Int?) -> String {
        let lines = [header] + rows
        let widths = widths(lines, within: limit)
        return lines.map { Self.line($0, widths) + "\n" }.joined()
    }

    private func widths(_ lines: [[String]], within limit: Int?) -> [Int] {
        var widths = header.indices.map { column in lines.map { $0[column].columns }.max() ?? 0 }
        let mayShrink = header.indices.filter { cut.contains(header[$0]) }
        let room = (limit ?? .max) - Self.gap * (header.count - 1)
        while widths.reduce(0, +) > room {
            // The widest column first, so that short names stay complete.
            guard let widest = mayShrink.max(by: { widths[$0] < widths[$1] }), widths[widest] > Self.narrowest else {
                break
            }
            widths[widest] -= 1
        }
        return widths
    }

    private static func line(_ cells: [String], _ widths: [Int]) -> String {
        let cells = zip(cells, widths).map { $0.cut(toColumns: $1) }
        let last = cells.count - 1
        let padded = zip(cells, widths).prefix(last).map { $0 + String(repeating: " ", count: $1 - $0.columns) }
        return (padded + [cells[last]]).joined(separator: String(repeating: " ", count: gap))
    }
}

extension String {
    /// The number of terminal columns of the text.
    var columns: Int { reduce(0) { $0 + $1.columns } }

    fileprivate func cut(toColumns limit: Int) -> String {
        guard columns > limit else { return self }
        var (rest, result) = (limit - 1, "")
        for character in self {
            rest -= character.columns
            guard rest >= 0 else { break }
            result.append(character)
        }
        return result + "…"
    }
}

extension Character {
    /// Two for a wide character, none for a mark without a letter. A cluster is as wide as its widest part; an emoji of
    /// several parts takes two.
    fileprivate var columns: Int {
        let widest = unicodeScalars.map(\.columns).max() ?? 0
        let isEmoji = unicodeScalars.contains { $0 == "\u{FE0F}" } || unicodeScalars.allSatisfy(\.isRegionalIndicator)
        return isEmoji ? 2 : widest
    }
}

extension Unicode.Scalar {
    fileprivate var isRegionalIndicator: Bool { (0x1F1E6...0x1F1FF).contains(value) }

    fileprivate var columns: Int {
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control: 0
        default: properties.isEmojiPresentation || Self.isWide(value) ? 2 : 1
        }
    }

    /// The blocks whose characters are wide (Unicode Standard Annex #11, classes W and F), apart from emoji.
    private static func isWide(_ value: UInt32) -> Bool {
        switch value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3,
            0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18DFF,
            0x1AFF0...0x1B2FF, 0x1F200...0x1F2FF, 0x20000...0x3FFFD:
            true
        default: false
        }
    }
}
