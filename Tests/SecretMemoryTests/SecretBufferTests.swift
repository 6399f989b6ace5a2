// SPDX-License-Identifier: Apache-2.0
// A buffer for secrets that arrive bit by bit.

import Foundation
import SecretMemory
import Testing

@Suite("secret buffer")
struct SecretBufferTests {
    private func filled(_ text: String, capacity: Int = 16) -> SecretBuffer {
        let buffer = SecretBuffer(capacity: capacity)
        for byte in text.utf8 { #expect(buffer.append(byte)) }
        return buffer
    }

    private func text(_ buffer: SecretBuffer) -> String {
        String(decoding: (0..<buffer.count).map { buffer[$0] }, as: UTF8.self)
    }

    @Test func bytes_readFromADescriptor_areAppended() {
        let pipe = Pipe()
        pipe.fileHandleForWriting.write(Data("cd".utf8))
        let buffer = filled("ab")
        #expect(buffer.read(from: pipe.fileHandleForReading.fileDescriptor) == 2)
        #expect(text(buffer) == "abcd")
    }

    @Test func bytes_moreThanThereIsRoomFor_areLeftUnread() {
        let pipe = Pipe()
        pipe.fileHandleForWriting.write(Data("cdef".utf8))
        let buffer = filled("ab", capacity: 4)
        #expect(buffer.read(from: pipe.fileHandleForReading.fileDescriptor) == 2)
        #expect(buffer.read(from: pipe.fileHandleForReading.fileDescriptor) == 0)
        #expect(!buffer.append(0))
        #expect(text(buffer) == "abcd")
    }

    @Test func descriptor_thatCannotBeRead_leavesTheBufferAsItWas() {
        let buffer = filled("ab")
        #expect(buffer.read(from: -1) == -1)
        #expect(text(buffer) == "ab")
    }

    @Test(arguments: [(0, "abcde"), (2, "cde"), (4, "e"), (5, "")])
    func beginning_removed_movesTheRestUp(number: Int, rest: String) {
        let buffer = filled("abcde")
        buffer.removeFirst(number)
        #expect(text(buffer) == rest)
        #expect(
            buffer.firstIndex(of: UInt8(ascii: "e"))
                == rest.utf8.firstIndex(of: UInt8(ascii: "e")).map { _ in rest.count - 1 })
    }

    @Test func content_movedToALargerBuffer_isThereOnce() {
        let small = filled("abcd", capacity: 4)
        let large = SecretBuffer(capacity: 6, moving: small)
        #expect(small.count == 0 && large.capacity == 6 && text(large) == "abcd")
        #expect(large.append(UInt8(ascii: "e")) && text(large) == "abcde")
        #expect(small.append(UInt8(ascii: "x")) && text(large) == "abcde")
    }

    @Test func secret_ofARange_isACopy() throws {
        let buffer = filled("abcde")
        let secret = try #require(buffer.secret(in: 1..<3))
        buffer.removeFirst(5)
        #expect(secret.withUnsafeBytes { Data($0) } == Data("bc".utf8))
        #expect(buffer.secret(in: 0..<0) == nil)
    }

    @Test(arguments: [("ab", "ab", true), ("ab", "ac", false), ("ab", "abc", false)])
    func secrets_compared_areEqualByteForByte(first: String, second: String, isEqual: Bool) throws {
        let secrets = try [first, second].map { try #require(filled($0).secret(in: 0..<$0.utf8.count)) }
        #expect(secrets[0].holdsSameBytes(as: secrets[1]) == isEqual)
    }
}
