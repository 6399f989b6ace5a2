// SPDX-License-Identifier: Apache-2.0
// The C library copies through vector registers. The dynamic linker saves those on the stack at the first call of a function, where
// they stay.

import CTestShims
import Testing

@testable import SecretMemory

struct VectorRegisterTests {
    private let needle = (0..<200).map { _ in UInt8.random(in: .min ... .max) }

    /// Whether eight bytes of the needle, one after the other, are in the registers after `work`.
    private func isLeft(by work: () -> Void) -> Bool {
        var registers = [UInt8](repeating: 0, count: 2048)
        let count = registers.withUnsafeMutableBufferPointer { registers in
            work()
            return test_vector_registers(registers.baseAddress)
        }
        let windows = Set((0...needle.count - 8).map { Array(needle[$0..<$0 + 8]) })
        return (0...max(8, count) - 8).contains { windows.contains(Array(registers[$0..<$0 + 8])) }
    }

    @Test(.enabled(if: Self.canLook, "these registers cannot be read here"), arguments: [32, 64, 100, 200])
    func secret_copied_isInNoRegister(_ size: Int) {
        var secret: SecretBytes?
        let isLeft = isLeft {
            needle.withUnsafeBytes { secret = SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[..<size])) }
        }
        #expect(!isLeft)
        #expect(secret?.count == size)
    }

    @Test(.enabled(if: Self.canLook, "these registers cannot be read here"))
    func restOfABuffer_movedToTheFront_isInNoRegister() {
        let buffer = SecretBuffer(capacity: 256)
        for byte in needle { _ = buffer.append(byte) }
        #expect(!isLeft { buffer.removeFirst(100) })
        #expect(buffer.count == 100)
    }

    @Test(.enabled(if: Self.canLook, "these registers cannot be read here"))
    func contentOfABuffer_movedToALargerOne_isInNoRegister() {
        let buffer = SecretBuffer(capacity: 256)
        for byte in needle { _ = buffer.append(byte) }
        var larger: SecretBuffer?
        #expect(!isLeft { larger = SecretBuffer(capacity: 512, moving: buffer) })
        #expect(larger?.count == 200)
    }

    /// This finds what it looks for: a plain copy is in the registers.
    private static var canLook: Bool {
        let tests = VectorRegisterTests()
        var copy = [UInt8](repeating: 0, count: 200)
        return tests.isLeft {
            tests.needle.withUnsafeBytes { needle in copy.withUnsafeMutableBytes { $0.copyMemory(from: needle) } }
        }
    }
}
