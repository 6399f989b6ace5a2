// SPDX-License-Identifier: Apache-2.0
// Numbers that are the same for the same seed.

import KeychainSyncCore

/// The same numbers for the same seed, everywhere (SplitMix64).
package struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}

extension SeededRandom {
    /// Keys and identities of a run. Only one thread uses it.
    static func randomness(seed: UInt64) -> Randomness {
        let source = Source(seed: seed)
        return Randomness { bytes in
            for index in bytes.indices { bytes[index] = UInt8(truncatingIfNeeded: source.random.next()) }
        }
    }

    private final class Source: @unchecked Sendable {
        var random: SeededRandom
        init(seed: UInt64) { random = SeededRandom(seed: seed) }
    }

    mutating func chance(_ probability: Double) -> Bool { Double.random(in: 0..<1, using: &self) < probability }

    mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: 0..<elements.count, using: &self)]
    }
}
