// SPDX-License-Identifier: Apache-2.0
// Public halves of keys, as a TPM describes them.

#if TPM
    import Crypto

    /// A kind of object that this module makes: everything in its public area (TPMT_PUBLIC) but the public key.
    struct ObjectKind: Hashable {
        let attributes: UInt32
        private let type: UInt16
        /// What the type says about algorithms.
        private let parameters: [UInt16]

        private init(_ attributes: ObjectAttributes, _ type: UInt16, _ parameters: [UInt16]) {
            (self.attributes, self.type, self.parameters) = (attributes.rawValue, type, parameters)
        }

        /// A key that only wraps others. The TPM derives the same one each time, until it is cleared.
        static let storageKey = ObjectKind(
            [.fixedTPM, .fixedParent, .sensitiveDataOrigin, .userWithAuth, .noDA, .restricted, .decrypt],
            AlgorithmID.ecc,
            [
                AlgorithmID.aes, 128, AlgorithmID.cfb, AlgorithmID.null, AlgorithmID.nistP256, AlgorithmID.null,
            ])

        /// A P-256 key that signs and agrees.
        static let privateKey = ObjectKind(
            [.fixedTPM, .fixedParent, .sensitiveDataOrigin, .userWithAuth, .noDA, .decrypt, .sign], AlgorithmID.ecc,
            [AlgorithmID.null, AlgorithmID.null, AlgorithmID.nistP256, AlgorithmID.null])

        /// A secret for everybody who may use the TPM.
        static let openSecret = ObjectKind(
            [.fixedTPM, .fixedParent, .userWithAuth, .noDA], AlgorithmID.keyedHash, [AlgorithmID.null])

        /// A secret behind a PIN, whose wrong tries the TPM counts.
        static let guardedSecret = ObjectKind(
            [.fixedTPM, .fixedParent, .userWithAuth], AlgorithmID.keyedHash, [AlgorithmID.null])

        fileprivate var isKey: Bool { type == AlgorithmID.ecc }

        /// The public area up to its unique field.
        fileprivate var prefix: [UInt8] {
            var writer = MessageWriter(capacity: 32)
            writer.put(type)
            writer.put(AlgorithmID.sha256)
            writer.put(attributes)
            // No policy
            writer.put(UInt16(0))
            for parameter in parameters { writer.put(parameter) }
            return writer.bytes
        }

        /// What TPM2_Create is asked for.
        var template: [UInt8] { prefix + [UInt8](repeating: 0, count: isKey ? 4 : 2) }
    }

    /// The public area of an object.
    struct PublicArea {
        let kind: ObjectKind
        let bytes: [UInt8]
        /// The public key: an uncompressed point, 65 bytes (ANSI X9.63). Empty for a secret.
        let publicKey: [UInt8]

        /// - Parameter kinds: The area must be of one of these, with no other attribute or algorithm.
        init(_ bytes: [UInt8], oneOf kinds: [ObjectKind]) throws(MalformedMessage) {
            guard let kind = kinds.first(where: { bytes.starts(with: $0.prefix) }) else { throw MalformedMessage() }
            var reader = MessageReader(bytes.dropFirst(kind.prefix.count))
            if kind.isKey {
                publicKey = [4] + (try reader.coordinate()) + (try reader.coordinate())
            } else {
                guard try reader.sized().count == SHA256.byteCount else { throw MalformedMessage() }
                publicKey = []
            }
            try reader.end()
            (self.kind, self.bytes) = (kind, bytes)
        }

        /// The name that a TPM gives the object: the hash algorithm, and the hash of the public area.
        var name: [UInt8] { [0, UInt8(AlgorithmID.sha256)] + SHA256.hash(data: bytes) }

        static let nameLength = 2 + SHA256.byteCount
    }
#endif
