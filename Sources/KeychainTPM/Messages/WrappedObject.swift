// SPDX-License-Identifier: Apache-2.0
// The form in which objects of a TPM are stored.

#if TPM
    import Foundation
    import KeychainEngine

    /// An object that only one TPM can load: its public area, the private area as the TPM encrypted it, and the name of the
    /// key that encrypts it.
    ///
    /// Stored as a byte with the version, then three fields, each with its size in two bytes in front.
    struct WrappedObject {
        let area: PublicArea
        let sealed: [UInt8]
        /// A TPM with another storage key is another TPM, or one that was cleared since.
        let storageKeyName: [UInt8]

        private static let version: UInt8 = 1
        /// A TPM's commands have at most 4 KiB. A P-256 key needs 126 bytes.
        private static let sealedLimit = 1024

        init(_ area: PublicArea, sealed: [UInt8], storageKeyName: [UInt8]) throws(MalformedMessage) {
            guard (1...Self.sealedLimit).contains(sealed.count), storageKeyName.count == PublicArea.nameLength else {
                throw MalformedMessage()
            }
            (self.area, self.sealed, self.storageKeyName) = (area, sealed, storageKeyName)
        }

        /// - Throws: `corrupt`, or `newerFormat` for a later version.
        init(_ data: Data, oneOf kinds: [ObjectKind]) throws(KeychainError) {
            guard data.first.map({ $0 <= Self.version }) ?? true else {
                throw KeychainError(
                    .newerFormat, "The object of the TPM was made by a newer version of swift-keychain. Update it.")
            }
            do throws(MalformedMessage) {
                var reader = MessageReader(data)
                guard try reader.number(UInt8.self) == Self.version else { throw MalformedMessage() }
                let area = try PublicArea(try reader.sized(), oneOf: kinds)
                try self.init(area, sealed: try reader.sized(), storageKeyName: try reader.sized())
                try reader.end()
            } catch {
                throw .damagedObject
            }
        }

        var data: Data {
            var writer = MessageWriter(capacity: 512)
            writer.put(Self.version)
            writer.put(sized: area.bytes)
            writer.put(sized: sealed)
            writer.put(sized: storageKeyName)
            return Data(writer.bytes)
        }
    }

    extension KeychainError {
        static let damagedObject = KeychainError(
            .corrupt, "The object of the TPM is damaged, or was not made for this use. Restore a backup.")
    }
#endif
