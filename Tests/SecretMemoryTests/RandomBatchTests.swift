// SPDX-License-Identifier: Apache-2.0
// Random bytes for one call.

import Foundation
import Testing

@testable import SecretMemory

struct RandomBatchTests {
    private static func pieces(_ sizes: some Sequence<Int>) -> [[UInt8]] {
        let batch = RandomBatch()
        return sizes.map { size in
            var piece = [UInt8](repeating: 0, count: size)
            piece.withUnsafeMutableBytes { batch.fill($0) }
            return piece
        }
    }

    @Test(arguments: [8, 12, 32, 96, 97, 256, 257, 1000])
    func pieces_ofAnySize_areAllDifferent(_ size: Int) {
        let pieces = Self.pieces(repeatElement(size, count: 200))
        #expect(Set(pieces).count == pieces.count)
        // No byte of a piece is left as it was: by chance a place is zero in all pieces once in 10^400.
        for place in 0..<size { #expect(pieces.contains { $0[place] != 0 }) }
    }

    /// A piece that was handed out twice, in part, would show the same bytes at another place.
    @Test func pieces_ofDifferentSizes_haveNoBytesInCommon() {
        let bytes = Self.pieces((0..<300).map { [8, 12, 12, 32, 12, 20][$0 % 6] }).flatMap { $0 }
        let words = (0...bytes.count - 8).map { Array(bytes[$0..<$0 + 8]) }
        #expect(Set(words).count == words.count)
    }

    @Test func batches_ofTwoCalls_differ() {
        #expect(Self.pieces([64]) != Self.pieces([64]))
    }
}
