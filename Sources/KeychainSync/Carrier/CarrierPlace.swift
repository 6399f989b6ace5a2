// SPDX-License-Identifier: Apache-2.0
// Where a carrier is, and the kinds of carriers that a program has.

package import KeychainSyncCore

/// Where the machines of a ring exchange objects: a kind of carrier, and what that kind needs to find it.
///
/// ```swift
/// CarrierPlace.folder("/srv/shared").text                    // folder:/srv/shared
/// ```
package struct CarrierPlace: Hashable, Sendable {
    /// The kind of carrier, as ``CarrierKind/scheme`` names it.
    package let scheme: String
    /// What people may see, such as a path or addresses.
    package let address: String
    /// What only the carrier needs. It may contain secrets, and no text shows it.
    package let details: [String]

    package init(scheme: String, address: String, details: [String] = []) {
        (self.scheme, self.address, self.details) = (scheme, address, details)
    }

    package static func folder(_ path: String) -> CarrierPlace { CarrierPlace(scheme: "folder", address: path) }

    /// For people: `folder:/srv/shared`.
    package var text: String { scheme + ":" + address }

    /// With the details. No path or address contains the separator.
    var stored: String { ([text] + details).joined(separator: "\0") }

    init?(stored: String) {
        let parts = stored.split(separator: "\0", omittingEmptySubsequences: false).map(String.init)
        guard let text = parts.first, let end = text.firstIndex(of: ":"), end != text.startIndex else { return nil }
        self.init(
            scheme: String(text[..<end]), address: String(text[text.index(after: end)...]),
            details: Array(parts.dropFirst()))
        guard scheme != "folder" || address.hasPrefix("/") && details.isEmpty else { return nil }
    }
}

extension CarrierPlace: CustomStringConvertible, CustomReflectable {
    package var description: String { text }

    /// No dump shows the details either.
    package var customMirror: Mirror { Mirror(self, children: ["text": text]) }
}

/// A kind of carrier that a program has.
package protocol CarrierKind: Sendable {
    /// What the texts of its places begin with.
    var scheme: String { get }

    /// The rings that have objects at a place.
    ///
    /// - Throws: A failure if the place cannot be used.
    func rings(at place: CarrierPlace) async throws(CarrierFailure) -> [RingID]

    /// - Throws: A failure if the place is none of this kind. Does not wait for the carrier.
    func carrier(of ring: RingID, at place: CarrierPlace) throws(CarrierFailure) -> any Carrier
}
