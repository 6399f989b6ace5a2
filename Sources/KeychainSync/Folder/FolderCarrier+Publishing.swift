// SPDX-License-Identifier: Apache-2.0
// Putting objects into a shared folder.

package import Foundation
package import KeychainSyncCore

extension FolderCarrier {
    /// How often to try again when another machine removes a folder that has become empty.
    private static let mostAttempts = 16

    package func publish(
        _ name: ObjectName, _ bytes: Data, beside isBeside: Bool
    ) async throws(CarrierFailure) -> Publication {
        guard bytes.count <= Bounds.object else {
            throw CarrierFailure(
                .tooLarge, "An object has \(bytes.count) bytes, which is more than the maximum. Please report this.")
        }
        return try await run { (carrier) throws(CarrierFailure) in
            let file = FileName(name, bytes)
            for _ in 1..<Self.mostAttempts {
                do throws(CarrierFailure) {
                    return try carrier.place(file, bytes, isBeside)
                } catch {
                    // The folder may have become empty and been removed.
                    guard error.reason == .unavailable else { throw error }
                }
            }
            return try carrier.place(file, bytes, isBeside)
        }
    }

    private func place(_ file: FileName, _ bytes: Data, _ isBeside: Bool) throws(CarrierFailure) -> Publication {
        let (parts, name) = file.parts
        var folder = try OpenFolder.shared(path)
        for part in [Self.top, ring] + parts { folder = try folder.folderForWriting(part) }
        if try folder.bytes(of: name) == bytes { return .alreadySame }
        guard !folder.hasForeign(name) else { throw .foreign(folder.path + "/" + name) }
        if case .segment = file.object, !isBeside, try hasOther(file, in: folder) { return .otherThere }
        var isMade = try make(file, bytes, in: folder, replacing: false)
        if !isMade {
            // It has not been copied wholly, or is damaged.
            if try folder.bytes(of: name) == bytes { return .alreadySame }
            isMade = try make(file, bytes, in: folder, replacing: true)
        }
        guard isMade else { throw .foreign(folder.path + "/" + name) }
        try folder.removeResidue(beside: name)
        return .created
    }

    private func make(
        _ file: FileName, _ bytes: Data, in folder: OpenFolder, replacing isReplacing: Bool
    ) throws(CarrierFailure) -> Bool {
        let name = file.parts.file
        own.expect(name, Self.mark(file, bytes.count))
        do throws(CarrierFailure) {
            if try folder.make(name, bytes, replacing: isReplacing) { return true }
        } catch {
            own.take(name)
            throw error
        }
        own.take(name)
        return false
    }

    /// Whether another object of the name lies there as a whole.
    private func hasOther(_ file: FileName, in folder: OpenFolder) throws(CarrierFailure) -> Bool {
        var budget = mostFiles
        for name in try folder.names(&budget) {
            guard let other = FileName(file.parts.folder.joined(separator: "/"), name), other.object == file.object,
                other != file, let bytes = try folder.bytes(of: name), other.isOf(bytes)
            else { continue }
            return true
        }
        return false
    }
}
