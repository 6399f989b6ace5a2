// SPDX-License-Identifier: Apache-2.0
// Shared folders as a kind of carrier.

import KeychainSyncCore

/// The kind that every program has.
struct FolderKind: CarrierKind {
    static let scheme = "folder"

    var scheme: String { Self.scheme }
    private let own = OwnFiles()

    func rings(at place: CarrierPlace) async throws(CarrierFailure) -> [RingID] {
        try await FolderCarrier.rings(in: place.address)
    }

    func carrier(of ring: RingID, at place: CarrierPlace) throws(CarrierFailure) -> any Carrier {
        FolderCarrier(place.address, ring: ring, own: own)
    }
}
