// SPDX-License-Identifier: Apache-2.0
// A carrier that can say whether anybody else has written since.

package import Foundation
package import KeychainSyncCore

/// A carrier on which a segment can be published only if nothing has changed, in one step that all machines agree on.
package protocol ConfirmingCarrier: Carrier {
    /// Publishes a segment if no segment and no entry of the ring log was published since a listing.
    ///
    /// It may be repeated while the outcome is unknown: the same segment is created once.
    ///
    /// - Parameter revision: That of the listing.
    /// - Throws: A failure after which the segment was not published, and will not be.
    func publish(
        _ name: ObjectName, _ bytes: Data, ifUnchangedSince revision: UInt64
    ) async throws(CarrierFailure) -> ConfirmedPublication
}

/// The outcome of publishing a segment if nothing has changed.
package enum ConfirmedPublication: Sendable {
    /// It is there, and durable on a majority of the carrier's nodes.
    case created
    /// Something was published before; the segment never will be.
    case changedSince
    /// The carrier has not answered. The segment may be there, or may still arrive.
    case unknown
}
