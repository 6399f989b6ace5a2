// SPDX-License-Identifier: Apache-2.0
// The two key pairs of a member.

package import Foundation
import KeychainCrypto
package import SecretMemory

/// What opens the keys that were wrapped for a member which a machine was before it got new keys. It signs nothing any more.
package struct FormerKeys: Sendable {
    package let member: MemberID
    package let wrapping: SecretBytes
}

/// The keys with which a machine signs, and for which keys are wrapped. They are made on the machine, and never leave
/// it.
package struct DeviceKeys: Sendable {
    package let signing: SecretBytes
    package let wrapping: SecretBytes

    package init(signing: SecretBytes, wrapping: SecretBytes) {
        self.signing = signing
        self.wrapping = wrapping
    }

    package static func make(_ random: Randomness = Randomness()) -> DeviceKeys {
        DeviceKeys(signing: random.key(), wrapping: random.key())
    }

    /// The keys of the recovery member, derived from the key on paper.
    package init(recoveryKey: SecretBytes) {
        signing = Derivation.key(from: recoveryKey, salt: Data(), .recoverySigning)
        wrapping = Derivation.key(from: recoveryKey, salt: Data(), .recoveryWrapping)
    }

    package func publicKeys() throws(Refusal) -> PublicKeys {
        defer { scrubExpandedKeys() }
        do {
            return PublicKeys(
                signing: try SigningKey.publicKey(of: signing), wrapping: try HybridKey.publicKey(of: wrapping))
        } catch {
            throw .notAuthentic
        }
    }

    package func signature(of message: [UInt8]) throws(Refusal) -> Data {
        do {
            return try SigningKey.signature(of: message, with: signing)
        } catch {
            throw .notAuthentic
        }
    }
}
