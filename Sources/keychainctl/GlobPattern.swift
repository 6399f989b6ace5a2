// SPDX-License-Identifier: Apache-2.0
// Patterns of names: * for any characters, ? for one, [a-z] for one of several, [!a-z] for one of the others.

import ArgumentParser

/// Compares characters as people see them: `?` stands for `é`, however that is encoded.
struct GlobPattern: ExpressibleByArgument {
    private enum Part {
        case anything
        case one
        case character(Character)
        case oneOf([ClosedRange<Character>], isInverted: Bool)
    }

    private var parts: [Part] = []

    /// - Returns: `nil` if a bracket is not closed, or nothing follows a backslash.
    init?(argument: String) {
        var rest = Array(argument)[...]
        while let next = rest.popFirst() {
            switch next {
            case "*": parts.append(.anything)
            case "?": parts.append(.one)
            case "[":
                guard let choice = Self.choice(&rest) else { return nil }
                parts.append(choice)
            case "\\":
                guard let character = rest.popFirst() else { return nil }
                parts.append(.character(character))
            default: parts.append(.character(next))
            }
        }
    }

    /// A bracket right after the opening one belongs to the choice.
    private static func choice(_ rest: inout ArraySlice<Character>) -> Part? {
        let isInverted = rest.first == "!" || rest.first == "^"
        if isInverted { rest.removeFirst() }
        guard let end = rest.dropFirst().firstIndex(of: "]") else { return nil }
        var inner = rest[..<end]
        rest = rest[(end + 1)...]
        var ranges: [ClosedRange<Character>] = []
        while let first = inner.popFirst() {
            guard inner.first == "-", let last = inner.dropFirst().first else {
                ranges.append(first...first)
                continue
            }
            inner.removeFirst(2)
            if first <= last { ranges.append(first...last) }
        }
        return .oneOf(ranges, isInverted: isInverted)
    }

    /// Whether the whole text matches. Only the last `*` is tried again, so the time is limited by the product of both
    /// lengths.
    func matches(_ text: String) -> Bool {
        let characters = Array(text)
        var (part, index) = (0, 0)
        var star: (part: Int, index: Int)?
        while index < characters.count {
            if part < parts.count, case .anything = parts[part] {
                star = (part, index)
                part += 1
            } else if part < parts.count, Self.matches(parts[part], characters[index]) {
                (part, index) = (part + 1, index + 1)
            } else if let last = star {
                star = (last.part, last.index + 1)
                (part, index) = (last.part + 1, last.index + 1)
            } else {
                return false
            }
        }
        return parts[part...].allSatisfy { if case .anything = $0 { true } else { false } }
    }

    private static func matches(_ part: Part, _ character: Character) -> Bool {
        switch part {
        case .anything: false
        case .one: true
        case .character(let wanted): wanted == character
        case .oneOf(let ranges, let isInverted): ranges.contains { $0.contains(character) } != isInverted
        }
    }
}
