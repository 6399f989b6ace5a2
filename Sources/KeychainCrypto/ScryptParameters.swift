// SPDX-License-Identifier: Apache-2.0
// The cost of a derivation from a passphrase.

import Foundation
import SecretMemory

/// scrypt's cost (RFC 7914), range-checked before any work: parameters from a file could otherwise make the library
/// trap, or exhaust the memory.
public struct ScryptParameters: Equatable, Sendable {
    /// N: the number of blocks, which are read in an order that depends on the passphrase.
    public var rounds: UInt64
    /// r: the size of a block, in units of 128 bytes.
    public var blockSize: UInt32
    /// p: the number of repetitions.
    public var parallelism: UInt32

    public init(rounds: UInt64, blockSize: UInt32, parallelism: UInt32) {
        self.rounds = rounds
        self.blockSize = blockSize
        self.parallelism = parallelism
    }

    /// The minimum for new slots: 128 MiB, OWASP's minimum for scrypt with p = 1.
    public static let floor = ScryptParameters(rounds: 1 << 17, blockSize: 8, parallelism: 1)

    /// Bytes of memory for one derivation; `Int.max` for parameters far outside the accepted range.
    public var memory: Int {
        let (blocks, tooMany) = rounds.multipliedReportingOverflow(by: UInt64(blockSize))
        let (bytes, tooLarge) = blocks.multipliedReportingOverflow(by: 128)
        return tooMany || tooLarge ? .max : Int(clamping: bytes)
    }

    /// Whether a derivation may be tried: N a power of two from 2^15 to 2^19, r = 8, p from 1 to 4, at most 512 MiB.
    ///
    /// The lower limit is below `floor`, so that a slot from elsewhere can still be opened; it should then be wrapped
    /// again.
    public var isAcceptable: Bool {
        rounds.nonzeroBitCount == 1 && (1 << 15...1 << 19).contains(rounds) && blockSize == 8
            && (1...4).contains(parallelism) && memory <= 512 << 20
    }

    /// Whether guessing costs less work than with `other`: N · r · p is smaller.
    public func isBelow(_ other: ScryptParameters) -> Bool { work < other.work }

    private var work: UInt64 {
        let (blocks, tooMany) = rounds.multipliedReportingOverflow(by: UInt64(blockSize))
        let (all, tooLarge) = blocks.multipliedReportingOverflow(by: UInt64(parallelism))
        return tooMany || tooLarge ? .max : all
    }
}

extension ScryptParameters {
    /// At least the floor. N is doubled, up to 2^19, as long as a derivation is expected to finish within `target`.
    ///
    /// Measures one derivation at the floor, about half a second.
    /// - Throws: `PassphraseFailure.outOfMemory`.
    public static func calibrated(target: Duration = .milliseconds(500)) throws(PassphraseFailure) -> ScryptParameters {
        let start = ContinuousClock.now
        _ = try PassphraseDerivation.keys(fromBytes: .random(count: 32), salt: .random(count: 32), floor)
        return raised(floorTook: ContinuousClock.now - start, target: target)
    }

    /// Work doubles with N.
    static func raised(floorTook measured: Duration, target: Duration) -> ScryptParameters {
        var (result, expected) = (floor, measured)
        while expected * 2 <= target && result.rounds < 1 << 19 {
            result.rounds *= 2
            expected *= 2
        }
        return result
    }
}
