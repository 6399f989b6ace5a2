// SPDX-License-Identifier: Apache-2.0
// The machines of a ring as messages name them.

import KeychainSyncCore

/// The names of the members of a ring, also of those that were removed.
package struct MachineNames: Sendable {
    private var members: [MemberID: Ring.Member] = [:]
    private var authors: [WriterID: MemberID] = [:]

    package init() {}

    init(_ replica: Replica) { (members, authors) = (replica.ring.members, replica.authors) }

    /// `'laptop'`; with the beginning of its ID if others have that name; the whole ID of a machine that has none.
    func text(_ id: MemberID) -> String {
        guard let name = members[id]?.card.name, !name.isEmpty else { return id.hex }
        let isOfSeveral = members.values.count { $0.card.name == name } > 1
        return "'\(name.withoutControls)'" + (isOfSeveral ? " (\(id.hex.prefix(8)))" : "")
    }

    /// A log is a folder or a prefix on the carrier: with its ID it is found there.
    func text(_ writer: WriterID) -> String {
        let log = "the log \(writer.hex)"
        return machine(of: writer).map { "\($0) (\(log))" } ?? log
    }

    /// `nil` if nothing that a member has written there is known.
    func machine(of writer: WriterID) -> String? { authors[writer].map { text($0) } }
}

extension String {
    /// Others choose names: in a message, a line break could begin one that looks like ours.
    var withoutControls: String {
        String(
            String.UnicodeScalarView(
                unicodeScalars.map { $0.properties.generalCategory == .control ? "\u{FFFD}" : $0 }))
    }
}
