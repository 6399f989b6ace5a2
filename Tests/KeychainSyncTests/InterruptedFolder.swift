// SPDX-License-Identifier: Apache-2.0
// A folder whose user is interrupted when an object has just been published.

import Foundation
import KeychainSync
import KeychainSyncCore
import SecretMemory

/// Publishes one object, has others look at it, and fails as if the process had died there.
final class InterruptedFolders: CarrierKind {
    struct Script: Sendable {
        /// Whether the next publication of an object is the last one.
        var isLast: (@Sendable (ObjectName) -> Bool)?
        /// What others do when it is published.
        var meanwhile: @Sendable () async throws -> Void = {}
    }

    let scheme = "folder"
    let script = Guarded(Script())

    /// Interrupts the next publication that fits.
    func interrupt(
        at isLast: @escaping @Sendable (ObjectName) -> Bool, _ meanwhile: @escaping @Sendable () async throws -> Void
    ) {
        script.withLock { $0 = Script(isLast: isLast, meanwhile: meanwhile) }
    }

    func rings(at place: CarrierPlace) async throws(CarrierFailure) -> [RingID] {
        try await FolderCarrier.rings(in: place.address)
    }

    func carrier(of ring: RingID, at place: CarrierPlace) throws(CarrierFailure) -> any Carrier {
        InterruptedFolder(base: FolderCarrier(place.address, ring: ring), script: script)
    }
}

struct InterruptedFolder: Carrier {
    let base: FolderCarrier
    let script: Guarded<InterruptedFolders.Script>

    func list() async throws(CarrierFailure) -> Listing { try await base.list() }

    func read(_ names: [ObjectName]) async throws(CarrierFailure) -> CarrierReading { try await base.read(names) }

    func publish(
        _ name: ObjectName, _ bytes: Data, beside isBeside: Bool
    ) async throws(CarrierFailure) -> Publication {
        let outcome = try await base.publish(name, bytes, beside: isBeside)
        let script = script.withLock { script in
            let now = script
            if now.isLast?(name) == true { script.isLast = nil }
            return now
        }
        guard script.isLast?(name) == true else { return outcome }
        do { try await script.meanwhile() } catch { throw CarrierFailure(.inputOutput, "\(error)") }
        throw CarrierFailure(.inputOutput, "The process was interrupted.")
    }

    func remove(_ names: [ObjectName]) async throws(CarrierFailure) { try await base.remove(names) }

    func changes() -> AsyncStream<Void> { base.changes() }
}
