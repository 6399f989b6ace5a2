// SPDX-License-Identifier: Apache-2.0
// The place where machines exchange objects.

// Folders, from top to bottom:
//
// - Interface: sync as programs use it
// - Driver: a vault as a member of a ring
// - Folder: a carrier over a shared folder
// - Carrier: the interface of all carriers
// - .: re-exported types

package import Foundation
package import KeychainSyncCore

/// Storage that all machines of a ring can reach, at least from time to time. It is not trusted: the core checks every
/// object.
///
/// Names belong to one ring. An object never changes. A carrier that has two objects of one name returns both.
package protocol Carrier: Sendable {
    /// Lists all present objects.
    func list() async throws(CarrierFailure) -> Listing

    /// Objects that are not there, or not wholly yet, are left out.
    func read(_ names: [ObjectName]) async throws(CarrierFailure) -> CarrierReading

    /// Durable on this machine when it returns; a carrier over a network may say more. Replaces nothing but a damaged object.
    ///
    /// - Parameter isBeside: Whether a segment is published although there is another one of its name. If not, nothing is, and the
    ///   other one decides what becomes of it.
    func publish(_ name: ObjectName, _ bytes: Data, beside isBeside: Bool) async throws(CarrierFailure) -> Publication

    /// Removes objects. It is not an error if one does not exist.
    func remove(_ names: [ObjectName]) async throws(CarrierFailure)

    /// Yields an element whenever it may be useful to list again. Ends when its task is cancelled.
    func changes() -> AsyncStream<Void>
}

extension Carrier {
    package func publish(_ name: ObjectName, _ bytes: Data) async throws(CarrierFailure) -> Publication {
        try await publish(name, bytes, beside: false)
    }
}

/// What a carrier has read.
package struct CarrierReading: Sendable {
    /// Several of one name if the carrier holds them.
    package var objects: [(name: ObjectName, bytes: Data)] = []
    /// Names under which something lies that has been damaged for a while, and nothing that is whole.
    package var damaged: [ObjectName] = []

    package init() {}
}

/// Why a carrier could not do something. It never makes a read or write of the vault fail.
package struct CarrierFailure: Error, Equatable, CustomStringConvertible {
    package enum Reason: Sendable {
        /// The carrier cannot be reached: the folder does not exist, or the network is down.
        case unavailable
        /// Access is denied: the carrier can be read but not written, or not even read.
        case denied
        case full
        /// The carrier has more objects than a ring needs.
        case overcrowded
        /// An object exceeds the maximum size.
        case tooLarge
        case inputOutput
        /// The place is none of this kind of carrier, or names files that cannot be used.
        case unusable
    }

    package let reason: Reason
    /// What happened, to what, and what to do next.
    package let message: String

    package init(_ reason: Reason, _ message: String) { (self.reason, self.message) = (reason, message) }

    package var description: String { message }
}
