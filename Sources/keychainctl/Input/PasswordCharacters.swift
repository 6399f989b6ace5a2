// SPDX-License-Identifier: Apache-2.0
// The characters of generated passwords.

import ArgumentParser
import Foundation

struct PasswordCharacters: ExpressibleByArgument {
    static let alphanumeric = PasswordCharacters(ranges: ["a"..."z", "A"..."Z", "0"..."9"])

    static let defaultCompletionKind = CompletionKind.list(named.keys.sorted())

    private static let named = [
        "alphanumeric": alphanumeric,
        "letters": PasswordCharacters(ranges: ["a"..."z", "A"..."Z"]),
        "digits": PasswordCharacters(ranges: ["0"..."9"]),
        "hex": PasswordCharacters(ranges: ["0"..."9", "a"..."f"]),
        "ascii": PasswordCharacters(ranges: ["!"..."~"]),
    ]

    /// Different from each other.
    private let scalars: [Unicode.Scalar]

    private init(ranges: [ClosedRange<Unicode.Scalar>]) {
        scalars = ranges.flatMap { ($0.lowerBound.value...$0.upperBound.value).compactMap(Unicode.Scalar.init) }
    }

    /// - Returns: `nil` for an unknown name, and for less than two different characters.
    init?(argument: String) {
        if let known = Self.named[argument] {
            self = known
            return
        }
        let given = Array(Set(argument.unicodeScalars.dropFirst()))
        let isVisible = given.allSatisfy { $0.value > 0x20 && $0.value != 0x7F }
        guard argument.hasPrefix("="), given.count > 1, isVisible else { return nil }
        scalars = given
    }

    var defaultValueDescription: String { "alphanumeric" }

    /// As UTF-8.
    func password(_ length: Int) -> Data {
        var (generator, result) = (SystemRandomNumberGenerator(), Data(capacity: length * 4))
        for _ in 0..<length {
            // Without modulo bias.
            let scalar = scalars[Int.random(in: 0..<scalars.count, using: &generator)]
            result.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
        }
        return result
    }

    /// The bits with one decimal place, rounded down.
    func entropyText(_ length: Int) -> String {
        let tenths = Int(Double(length) * log2(Double(scalars.count)) * 10)
        return "\(tenths / 10).\(tenths % 10)"
    }
}
