// SPDX-License-Identifier: Apache-2.0
// This machine's record of the newest state of a vault, kept outside the vault.

import Foundation
import KeychainCrypto

/// One record of the newest state that was seen. It has a fixed length and an authentication code that requires the
/// vault's index key.
///
/// An older record is harmless. An invalid one, because it was truncated or comes from another vault, counts as none,
/// and the next write replaces it.
struct Anchor {
    static let length = 104
    private static let magic = Data([UInt8]("KVAN".utf8))
    private static let version: UInt8 = 1
    private static let codeLength = 32

    /// The vault of a record. A copy of the vault at another path has its own anchor.
    struct Place: Sendable {
        let vaultID: UUID
        /// SHA-256 of the path of the vault's folder, without symbolic links.
        let path: Data
        /// How each of its records begins.
        fileprivate let beginning: [UInt8]

        init(_ location: VaultLocation, vaultID: UUID) {
            self.vaultID = vaultID
            let path = Checksum.sha256(Data([UInt8]((FileSafety.resolved(location.folder) ?? location.folder).utf8)))
            self.path = path
            beginning = FieldWriter.bytes(capacity: Anchor.length) { writer in
                writer.put(magic)
                writer.put(version)
                writer.put(UInt8(VaultSchema.firstVersionWithHead))
                // Reserved.
                writer.put(0)
                writer.put(0)
                withUnsafeBytes(of: vaultID.uuid) { writer.put($0) }
                writer.put(path)
            }
        }

        /// Short enough for the name of a file or a kernel key.
        var name: String {
            let digits = path.prefix(8).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
            return vaultID.uuidString.lowercased() + "-" + digits.joined()
        }
    }

    static func bytes(_ mark: HeadMark, _ place: Place, _ keys: HeadKeys) -> [UInt8] {
        FieldWriter.bytes(capacity: length) { writer in
            write(mark, place, to: &writer)
            keys.anchorCode(writer.written) { writer.put($0) }
        }
    }

    /// - Returns: `nil` for bytes that are not a record of this vault.
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
        FieldWriter.bytes(capacity: length) { write(mark, place, to: &$0) }
    }

    private static func write(_ mark: HeadMark, _ place: Place, to writer: inout FieldWriter) {
        place.beginning.withUnsafeBytes { writer.put($0) }
        writer.put(bigEndian: mark.epoch)
        writer.put(bigEndian: mark.sequence)
    }
}

/// The records that were found, before a key was available to check them.
struct SeenAnchors {
    let place: Anchor.Place
    let records: [Data]

    /// The newest valid record.
    func newest(_ keys: HeadKeys) -> HeadMark? {
        records.compactMap { Anchor.mark($0, place, keys) }.max { ($0.epoch, $0.sequence) < ($1.epoch, $1.sequence) }
    }
}
