// SPDX-License-Identifier: Apache-2.0
// Secrets that a test writes as text.

package import SecretMemory

extension SecretBytes {
    package convenience init(text: String) {
        self.init(count: text.utf8.count) { $0.copyBytes(from: text.utf8) }
    }
}
