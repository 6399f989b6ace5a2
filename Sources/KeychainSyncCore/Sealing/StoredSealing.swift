// SPDX-License-Identifier: Apache-2.0
// Seals what a machine stores of its ring.

package import Foundation
import KeychainCrypto
import SecretMemory

/// Parts of the stored state, each sealed and bound to its name.
package struct StoredSealing: Sendable {
    private let key: SecretBytes
    private let ring: RingID

    package init(_ keys: StoredKeys) {
        ring = keys.keyring.ring.ring
        key = Derivation.key(from: keys.device.signing, salt: Data(ring.bytes), .stored)
    }

    package func seal(_ part: Data, as name: Data) throws(Refusal) -> Data {
        var bytes = [UInt8](part)
        defer { bytes.wipe() }
        do {
            return try Sealing.seal(bytes, with: key, context: context(name))
        } catch {
            throw .notAuthentic
        }
    }

    package func open(_ sealed: Data, as name: Data) throws(Refusal) -> Data {
        do {
            return try Sealing.openBytes(sealed, with: key, context: context(name))
        } catch {
            throw .notAuthentic
        }
    }

    private func context(_ name: Data) -> [UInt8] {
        Array("KSTO".utf8) + [ObjectKind.format, ObjectKind.suite] + ring.bytes + name
    }
}
