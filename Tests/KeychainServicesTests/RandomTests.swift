// SPDX-License-Identifier: Apache-2.0
// SecRandomCopyBytes writes exactly the bytes it was asked for, and refuses bad arguments.

import Foundation
import KeychainServices
import Testing

@Suite("Random bytes")
struct RandomTests {
    @Test(arguments: [1, 7, 8, 9, 16, 33, 4096])
    func randomBytes_ofAnyCount_changeOnlyThatMany(count: Int) {
        let guardByte: UInt8 = 0xA5
        var seen = [Bool](repeating: false, count: count)
        for _ in 0..<64 {
            var bytes = [UInt8](repeating: 0, count: count) + [UInt8](repeating: guardByte, count: 8)
            #expect(SecRandomCopyBytes(kSecRandomDefault, count, &bytes) == errSecSuccess)
            #expect(bytes[count...].allSatisfy { $0 == guardByte })
            for index in 0..<count where bytes[index] != 0 { seen[index] = true }
        }
        #expect(seen.allSatisfy { $0 })
    }

    @Test func randomBytes_drawnTwice_differ() {
        var first = [UInt8](repeating: 0, count: 32)
        var second = first
        #expect(SecRandomCopyBytes(kSecRandomDefault, first.count, &first) == errSecSuccess)
        #expect(SecRandomCopyBytes(nil, second.count, &second) == errSecSuccess)
        #expect(first != second)
    }

    @Test func randomBytes_ofZeroCount_writeNothing() {
        var bytes: [UInt8] = [0xA5]
        #expect(SecRandomCopyBytes(kSecRandomDefault, 0, &bytes) == errSecSuccess)
        #expect(bytes == [0xA5])
    }

    @Test(arguments: [-1, Int.min])
    func randomBytes_ofNegativeCount_giveErrSecParam(count: Int) {
        var bytes: [UInt8] = [0xA5]
        #expect(SecRandomCopyBytes(kSecRandomDefault, count, &bytes) == errSecParam)
        #expect(bytes == [0xA5])
    }

    @Test func randomBytes_fromAnotherGenerator_giveErrSecParam() {
        var bytes: [UInt8] = [0xA5]
        #expect(SecRandomCopyBytes(SecRandomRef(bitPattern: 1), 1, &bytes) == errSecParam)
        #expect(bytes == [0xA5])
    }
}
