// SPDX-License-Identifier: Apache-2.0
// Secrets that a library returned in plain memory.

import Foundation
import SecretMemory

extension SecretBytes {
    /// Moves bytes into a secret: the array is overwritten.
    convenience init(moving bytes: inout [UInt8]) {
        defer { bytes.withUnsafeMutableBytes { wipeMemory($0) } }
        let count = bytes.count
        self.init(count: count) { target in bytes.withUnsafeBytes { target.copyMemory(from: $0) } }
    }

    /// Moves bytes into a secret: the memory of the data is overwritten.
    convenience init(moving data: inout Data) {
        defer { data.withUnsafeMutableBytes { wipeMemory($0) } }
        let count = data.count
        self.init(count: count) { target in data.withUnsafeBytes { target.copyMemory(from: $0) } }
    }

    /// The bytes of several secrets, one after the other.
    static func joining(_ parts: [SecretBytes]) -> SecretBytes {
        SecretBytes(count: parts.reduce(0) { $0 + $1.count }) { target in
            var rest = target[...]
            for part in parts {
                part.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: rest).copyMemory(from: $0) }
                rest = rest.dropFirst(part.count)
            }
        }
    }
}

extension Array<UInt8> {
    /// Fresh public bytes, for salts and initialization vectors.
    static func random(count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            fillWithRandomBytes(UnsafeMutableRawBufferPointer(buffer))
            initialized = count
        }
    }
}
