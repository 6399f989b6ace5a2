// SPDX-License-Identifier: Apache-2.0
// Secrets of tests as bytes.

import SecretMemory

extension SecretBytes {
    convenience init(bytes: [UInt8]) {
        self.init(count: bytes.count) { $0.copyBytes(from: bytes) }
    }

    var bytes: [UInt8] { withUnsafeBytes { Array($0) } }
    var text: String { String(decoding: bytes, as: UTF8.self) }
}
