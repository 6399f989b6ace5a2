// SPDX-License-Identifier: Apache-2.0
// Digests of secrets, and what their states hold afterwards.

import Crypto
import Foundation
import Testing

@testable import KeychainCrypto

struct SecretDigestTests {
    private static let secret = [UInt8]("a secret with forty bytes, more or less.".utf8)

    @Test func secretAfterAText_isDigestedLikeBothTogether() {
        let digest = Self.secret.withUnsafeBytes { SHA256.digest(of: $0, after: "the text ") }
        #expect(digest == SHA256.hash(data: Array("the text ".utf8) + Self.secret))
    }

    @Test func stateWithASecret_holdsItUntilItIsOverwritten() {
        var state = SHA256()
        state.update(data: Self.secret)
        #expect(Self.object(of: state).range(of: Data(Self.secret)) != nil)
        state.overwrite()
        #expect(Self.object(of: state).range(of: Data(Self.secret[..<8])) == nil)
    }

    /// A key that fills a block is in the chaining value, which is the first 32 bytes of the state.
    @Test func stateAfterAKey_overwritten_hasAnotherChainingValue() {
        var state = SHA256()
        state.update(data: [UInt8](repeating: 0x36, count: 64))
        let before = Self.object(of: state)[..<32]
        state.overwrite()
        #expect(Self.object(of: state)[..<32] != before)
    }

    @Test func copyOfAState_isNotOverwritten() {
        var state = SHA256()
        state.update(data: Self.secret)
        let copy = state
        state.overwrite()
        #expect(copy.finalize() == SHA256.hash(data: Self.secret))
    }

    /// glibc keeps freed blocks for the thread, and gives the last one first. A state takes 128 bytes.
    @Test func digestOfASecret_leavesNothingInTheBlocksItFrees() {
        // Other tests free states with theirs.
        let secret = [UInt8]("another secret, which is in no other test".utf8)
        _ = secret.withUnsafeBytes { SHA256.digest(of: $0, after: "the text ") }
        let blocks = (0..<16).map { _ in UnsafeMutableRawPointer.allocate(byteCount: 128, alignment: 16) }
        defer { for block in blocks { block.deallocate() } }
        for block in blocks {
            let bytes = Data(bytes: block, count: 128)
            #expect(bytes.range(of: Data(secret[16..<32])) == nil)
        }
    }

    /// The fields of the object in which swift-crypto keeps a state, behind a header of 16 bytes: those of `SHA256_CTX`.
    private static func object(of state: SHA256) -> Data {
        withUnsafeBytes(of: state) { Data(bytes: $0.load(as: UnsafeRawPointer.self) + 16, count: 112) }
    }
}
