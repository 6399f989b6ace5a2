// SPDX-License-Identifier: Apache-2.0
// How far an exchange has read what a carrier has.

import KeychainSyncCore

/// What an exchange has asked a carrier for, round after round.
///
/// What is too much for one round is read in several, in turn, which together are a pass. Segments that come before those that they
/// follow are kept as far as there is room; the next pass reads the rest of them again.
struct ExchangeReading: Sendable {
    /// What was listed first. Only that makes a pass longer: a carrier may show something new each time.
    private let first: Set<ObjectName>
    private var listing: Listing
    private(set) var isFirst = true
    /// How many passes have ended. A round that reads everything is a pass of its own.
    private(set) var passes = 0
    private var isInTurn = false
    /// What this pass has asked for.
    private var pass: Set<ObjectName> = []
    /// What was asked for since something has come by which more can be applied.
    private var asked: Set<ObjectName> = []
    private var basis = Basis()
    /// Whether the last round has brought something by which more can be applied.
    private var hasMoved = false

    /// - Parameter listing: The first one of the exchange.
    init(_ listing: Listing) { (first, self.listing) = (listing.names, listing) }

    /// Notes a round.
    ///
    /// - Parameters:
    ///   - names: What it has asked for.
    ///   - listing: The listing that it has begun with.
    ///   - replica: The state after it.
    mutating func note(_ names: Set<ObjectName>, of listing: Listing, _ replica: Replica) {
        (self.listing, isFirst, isInTurn) = (listing, false, replica.readsInTurn)
        notePass(names.intersection(first))
        let former = basis
        basis = Basis(replica)
        hasMoved = basis != former
        asked.formUnion(names)
        // What came earlier and had no room may be applied now.
        if isInTurn, hasMoved { asked = [] }
    }

    private mutating func notePass(_ names: Set<ObjectName>) {
        guard !isInTurn || names.isSubset(of: pass) else { return pass.formUnion(names) }
        passes += 1
        pass = names
    }

    /// Whether another round may bring more.
    ///
    /// - Parameter hasCome: Whether the last one has brought anything.
    func goesOn(_ hasCome: Bool, _ replica: Replica) -> Bool {
        isInTurn ? hasMoved || !hasReadAll(replica) : hasCome
    }

    /// Whether everything was asked for that the last round was shown, and that is of use. What cannot be read, or waits for something
    /// that is not there, was asked for too.
    func hasReadAll(_ replica: Replica) -> Bool {
        let rest = Listing(names: listing.names.subtracting(asked), contents: listing.contents)
        return replica.news(in: rest).isEmpty
    }
}

/// What decides which segments can be applied.
private struct Basis: Equatable, Sendable {
    var vector = VersionVector()
    var entries = 0
    var epochs = 0

    init() {}

    init(_ replica: Replica) {
        (vector, entries, epochs) = (replica.items.vector, replica.log.entries.count, replica.keyring.epochs.count)
    }
}
