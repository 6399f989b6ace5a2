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

/// Looks for needles in every spelling, 16 bytes in a row of each, beginning at every fourth byte. Of a shorter one, it looks for 12.
struct NeedleSearch {
    /// Parts of needles, one after another, and the needle of each.
    private struct Windows {
        let width: Int
        var names: [String] = []
        var bytes: [UInt8] = []

        init(_ width: Int) { self.width = width }

        /// None that begins with zeros, of which memory is full.
        mutating func add(_ spelling: [UInt8], _ name: String) {
            for start in stride(from: 0, through: spelling.count - width, by: 4) {
                let window = spelling[start..<(start + width)]
                guard !window.starts(with: [0, 0]) else { continue }
                names.append(name)
                bytes += window
            }
        }

        func names(in hay: UnsafeRawBufferPointer) -> [String] {
            guard let base = hay.baseAddress, !names.isEmpty else { return [] }
            var hits = [UInt32](repeating: 0, count: names.count)
            // Nearly always there is none, and in a debug build to look at each counter takes longer than the search.
            guard test_find_windows(base, hay.count, bytes, names.count, width, &hits) > 0 else { return [] }
            return zip(names, hits).filter { $0.1 > 0 }.map(\.0)
        }
    }

    static let width = 16
    private var (long, short) = (Windows(width), Windows(12))

    init(_ needles: [Needle]) {
        for needle in needles {
            for spelling in needle.spellings {
                if spelling.count >= Self.width {
                    long.add(spelling, needle.name)
                } else {
                    short.add(spelling, needle.name)
                }
            }
        }
    }

    /// The names of the needles that are in there.
    func names(in bytes: Data) -> Set<String> {
        bytes.withUnsafeBytes { Set(long.names(in: $0) + short.names(in: $0)) }
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
