// SPDX-License-Identifier: Apache-2.0
// Secrets to be searched for, as they are and in the forms that text gives them.

import CTestShims
import Foundation

/// Bytes that should be nowhere.
struct Needle: Sendable {
    let name: String
    let bytes: [UInt8]

    /// The bytes themselves, and how they look as hexadecimal digits, in base64 and in UTF-16. Text in base64 that begins
    /// one or two bytes further on has other letters.
    var spellings: [[UInt8]] {
        let base64 = (0..<3).map { start in
            let whole = (bytes.count - start) / 3 * 3
            return [UInt8](Data(bytes[start..<(start + whole)]).base64EncodedData())
        }
        let digits = bytes.hexadecimal
        return [bytes, Array(digits.utf8), Array(digits.uppercased().utf8), bytes.flatMap { [$0, 0] }] + base64
    }
}

/// A needle that was found, and where.
struct NeedlePlace: Hashable, CustomStringConvertible {
    let needle: String
    let place: String

    var description: String { "\(needle) in \(place)" }
}

/// Looks for needles in every spelling, 16 bytes in a row of each, beginning at every fourth byte.
struct NeedleSearch {
    static let width = 16
    private var names: [String] = []
    private var windows: [UInt8] = []

    init(_ needles: [Needle]) {
        for needle in needles {
            for spelling in needle.spellings { add(spelling, needle.name) }
        }
    }

    /// None that begins with zeros, of which memory is full.
    private mutating func add(_ spelling: [UInt8], _ name: String) {
        for start in stride(from: 0, through: spelling.count - Self.width, by: 4) {
            let window = spelling[start..<(start + Self.width)]
            guard !window.starts(with: [0, 0]) else { continue }
            names.append(name)
            windows += window
        }
    }

    /// The names of the needles that are in there.
    func names(in bytes: Data) -> Set<String> {
        var hits = [UInt32](repeating: 0, count: names.count)
        bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            test_find_windows(base, bytes.count, windows, names.count, Self.width, &hits)
        }
        return Set(zip(names, hits).filter { $0.1 > 0 }.map(\.0))
    }
}

/// What the exerciser's `Planted` makes, made here too.
enum PlantedBytes {
    static func byte(_ index: Int, _ seed: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: (index &* 73 &+ seed) ^ (index &* index &* 5))
    }

    static func key(_ seed: Int) -> [UInt8] { (0..<32).map { byte($0, seed) } }

    static func passphrase(_ seed: Int) -> [UInt8] { (0..<48).map { 0x21 + byte($0, seed) % 90 } }
}
