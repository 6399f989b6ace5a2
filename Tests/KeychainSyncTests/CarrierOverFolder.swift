// SPDX-License-Identifier: Apache-2.0
// What carriers for tests that lie over a shared folder have in common.

import Foundation
import KeychainSync
import KeychainSyncCore

/// A carrier that leaves to the folder whichever of the calls it does not answer itself.
protocol CarrierOverFolder: Carrier {
    var base: FolderCarrier { get }
}

extension CarrierOverFolder {
    func list() async throws(CarrierFailure) -> Listing { try await base.list() }

    func read(_ names: [ObjectName]) async throws(CarrierFailure) -> CarrierReading { try await base.read(names) }

    func publish(
        _ name: ObjectName, _ bytes: Data, beside isBeside: Bool
    ) async throws(CarrierFailure) -> Publication {
        try await base.publish(name, bytes, beside: isBeside)
    }

    func remove(_ names: [ObjectName]) async throws(CarrierFailure) { try await base.remove(names) }

    func changes() -> AsyncStream<Void> { base.changes() }
}

/// Takes the place of the tool's own folders.
protocol KindOverFolders: CarrierKind {
    func carrier(over base: FolderCarrier) -> any Carrier
}

extension KindOverFolders {
    var scheme: String { "folder" }

    func rings(at place: CarrierPlace) async throws(CarrierFailure) -> [RingID] {
        try await FolderCarrier.rings(in: place.address)
    }

    func carrier(of ring: RingID, at place: CarrierPlace) throws(CarrierFailure) -> any Carrier {
        carrier(over: FolderCarrier(place.address, ring: ring))
    }
}
