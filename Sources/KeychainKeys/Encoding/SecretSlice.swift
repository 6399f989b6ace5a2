// SPDX-License-Identifier: Apache-2.0
// A part of a secret as a collection, so that parsers can read private keys without a copy.

import SecretMemory

/// Bytes that a parser can read: public ones in an array, or secret ones in place.
protocol ByteSlice: RandomAccessCollection where Element == UInt8, Index == Int, SubSequence == Self {
    /// A copy of the bytes as a secret.
    var copy: SecretBytes { get }
    /// A node that writes the bytes.
    var node: DERNode { get }
}

extension ArraySlice<UInt8>: ByteSlice {
    var copy: SecretBytes { withUnsafeBytes { SecretBytes(copying: $0) } }
    var node: DERNode { .bytes([UInt8](self)) }
}

/// A range of a secret. It keeps the secret alive and does not copy it.
struct SecretSlice: ByteSlice {
    private let owner: SecretBytes
    let startIndex: Int
    let endIndex: Int

    init(_ owner: SecretBytes) {
        (self.owner, startIndex, endIndex) = (owner, 0, owner.count)
    }

    private init(_ owner: SecretBytes, _ range: Range<Int>) {
        (self.owner, startIndex, endIndex) = (owner, range.lowerBound, range.upperBound)
    }

    subscript(index: Int) -> UInt8 {
        precondition(startIndex <= index && index < endIndex, "beyond the end of a part of a secret")
        return owner.withUnsafeBytes { $0[index] }
    }

    subscript(range: Range<Int>) -> SecretSlice {
        precondition(startIndex <= range.lowerBound && range.upperBound <= endIndex, "beyond a part of a secret")
        return SecretSlice(owner, range)
    }

    func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try owner.withUnsafeBytes { (bytes) throws(Failure) in
            try body(UnsafeRawBufferPointer(rebasing: bytes[startIndex..<endIndex]))
        }
    }

    var node: DERNode { .secret(self) }
    var copy: SecretBytes {
        startIndex == 0 && endIndex == owner.count ? owner : withUnsafeBytes { SecretBytes(copying: $0) }
    }
}
