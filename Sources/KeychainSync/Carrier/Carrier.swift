// SPDX-License-Identifier: Apache-2.0
// Where machines that share items leave objects for one another.

// Folders, from top to bottom:
//
// - Driver: a vault in a ring
// - Folder: a folder that somebody else carries
// - Carrier: what every carrier does

package import Foundation
package import KeychainSyncCore

/// A place that all machines of a ring can reach, now and then. Nothing that it shows is believed: the core checks every object.
///
/// Names are those of one ring. An object never changes; a carrier that holds two of one name hands out both.
package protocol Carrier: Sendable {
    /// Everything that is there now.
    func list() async throws(CarrierFailure) -> Listing

    /// Objects that are not there, or not wholly yet, are left out.
    func read(_ names: [ObjectName]) async throws(CarrierFailure) -> [(name: ObjectName, bytes: Data)]

    /// Durable on this machine when it returns; a carrier over a network may say more. Replaces nothing.
    func publish(_ name: ObjectName, _ bytes: Data) async throws(CarrierFailure) -> Publication

    /// Objects that are not there are no failure.
    func remove(_ names: [ObjectName]) async throws(CarrierFailure)

    /// A hint to list again, whenever something may have changed. Ends when its task is cancelled.
    func changes() -> AsyncStream<Void>
}

/// Why a carrier could not do something. It never makes a read or write of the vault fail.
package struct CarrierFailure: Error, Equatable, CustomStringConvertible {
    package enum Reason: Sendable {
        /// It cannot be reached: the folder is not there, the network is gone.
        case unavailable
        /// It may be read and not written, or not even read.
        case denied
        case full
        /// It holds more than any ring needs.
        case overcrowded
        /// An object is larger than any may be.
        case tooLarge
        case inputOutput
    }

    package let reason: Reason
    /// What happened, to what, what to do next.
    package let message: String

    package init(_ reason: Reason, _ message: String) { (self.reason, self.message) = (reason, message) }

    package var description: String { message }
}
