// SPDX-License-Identifier: Apache-2.0
// The carrier of a ring, of a kind that this program has.

package import KeychainEngine
import KeychainSyncCore
import KeychainVault

extension RingMember {
    func carrier(of state: RingState) throws(KeychainError) -> any Carrier {
        try carrier(of: state.replica.log.id, at: state.place)
    }

    func carrier(of ring: RingID, at place: CarrierPlace) throws(KeychainError) -> any Carrier {
        let kind = try kind(of: place)
        do { return try kind.carrier(of: ring, at: place) } catch { throw KeychainError(failure: error) }
    }

    /// Checks that the place can be used, and is apart from the vault, before anything depends on it.
    ///
    /// - Returns: The rings that have objects there.
    func rings(at place: CarrierPlace) async throws(KeychainError) -> [RingID] {
        if place.scheme == FolderKind.scheme, vault.overlaps(place.address) { throw .folderOfVault(place.address) }
        let kind = try kind(of: place)
        do { return try await kind.rings(at: place) } catch { throw KeychainError(failure: error) }
    }

    /// The folders whose changes say that others have published something; empty if the ring is in no folder.
    ///
    /// - Throws: `unavailable` if the vault is in no ring, or the folder cannot be reached; `locked`.
    package func foldersToWatch() async throws(KeychainError) -> [String] {
        var report = ExchangeReport()
        let state = try await take(&report) { _, _ in [] }.state
        guard let carrier = try carrier(of: state) as? FolderCarrier else { return [] }
        do { return try await carrier.foldersToWatch() } catch { throw KeychainError(failure: error) }
    }

    private func kind(of place: CarrierPlace) throws(KeychainError) -> any CarrierKind {
        guard let kind = kinds.first(where: { $0.scheme == place.scheme }) else { throw .missingKind(place) }
        return kind
    }
}

extension KeychainError {
    fileprivate static func missingKind(_ place: CarrierPlace) -> KeychainError {
        KeychainError(
            .unsupported,
            "The ring is at '\(place.text)', and this program has no carrier for '\(place.scheme)'. "
                + (place.scheme == "etcd"
                    ? "Build it with the trait Etcd: swift build --traits default,Etcd." : "Update this program.")
                + " Reading and writing items works without.")
    }

    fileprivate static func folderOfVault(_ path: String) -> KeychainError {
        KeychainError(
            .unsafeLocation,
            "'\(path)' contains the vault or its device key, or is inside the vault's folder, so the tool that shares it would share "
                + "these too. Use another folder."
        )
    }
}
