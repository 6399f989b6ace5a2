// SPDX-License-Identifier: Apache-2.0
// What this machine has seen of a vault, as it is kept outside of the vault.

import Foundation
import KeychainCrypto

/// One record of the newest state that was seen: of fixed length, and with a code that only the vault's index key makes.
///
/// An older record is harmless. One that does not hold, because it was cut short or comes from elsewhere, counts as none, and the
/// next write replaces it.
struct Anchor {
    static let length = 104
    private static let magic = Data("KVAN".utf8)
    private static let version: UInt8 = 1
    private static let codeLength = 32

    /// Which vault the record is of: a copy of the vault elsewhere has an anchor of its own.
    struct Place: Sendable {
        let vaultID: UUID
        /// SHA-256 of the path of the vault's folder, without symbolic links.
        let path: Data

        init(_ location: VaultLocation, vaultID: UUID) {
            self.vaultID = vaultID
            path = Checksum.sha256(Data((FileSafety.resolved(location.folder) ?? location.folder).utf8))
        }

        /// Short enough for a file or a key of the kernel.
        var name: String {
            let digits = path.prefix(8).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
            return vaultID.uuidString.lowercased() + "-" + digits.joined()
        }
    }

    static func bytes(_ mark: HeadMark, _ place: Place, _ keys: HeadKeys) -> Data {
        let message = message(mark, place)
        return Data(message) + keys.anchorCode(message)
    }

    /// - Returns: `nil` for bytes that are not a record of this place.
    static func mark(_ bytes: Data, _ place: Place, _ keys: HeadKeys) -> HeadMark? {
        guard bytes.count == length else { return nil }
        var reader = ByteReader(bytes.dropFirst(length - codeLength - 16))
        do throws(MalformedBytes) {
            let mark = HeadMark(epoch: try reader.number(), sequence: try reader.number())
            let message = message(mark, place)
            let isGenuine = keys.isValid(anchorCode: bytes.suffix(codeLength), message)
            return isGenuine && bytes.starts(with: message) ? mark : nil
        } catch {
            return nil
        }
    }

    private static func message(_ mark: HeadMark, _ place: Place) -> [UInt8] {
        var writer = ByteWriter(capacity: length)
        writer.append(magic)
        writer.append(version)
        writer.append(UInt8(VaultSchema.firstVersionWithHead))
        writer.append(bigEndian: UInt16(0))
        writer.append(place.vaultID)
        writer.append(place.path)
        writer.append(bigEndian: mark.epoch)
        writer.append(bigEndian: mark.sequence)
        return writer.bytes
    }
}

/// The records that were found, before there was a key to check them with.
struct SeenAnchors {
    let place: Anchor.Place
    let records: [Data]

    /// What the newest of those that hold says.
    func newest(_ keys: HeadKeys) -> HeadMark? {
        records.compactMap { Anchor.mark($0, place, keys) }.max { ($0.epoch, $0.sequence) < ($1.epoch, $1.sequence) }
    }
}
