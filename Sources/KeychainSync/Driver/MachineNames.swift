// SPDX-License-Identifier: Apache-2.0
// The machines of a ring as messages name them.

import KeychainSyncCore

/// The names of the members of a ring, also of those that were removed.
package struct MachineNames: Sendable {
    private var members: [MemberID: Ring.Member] = [:]

    package init() {}

    init(_ ring: Ring) { members = ring.members }

    /// `'laptop'`; with the beginning of its ID if others have that name; the whole ID of a machine that has none.
    func text(_ id: MemberID) -> String {
        guard let name = members[id]?.card.name, !name.isEmpty else { return id.hex }
        let isOfSeveral = members.values.count { $0.card.name == name } > 1
        return "'\(name.withoutControls)'" + (isOfSeveral ? " (\(id.hex.prefix(8)))" : "")
    }
}

extension String {
    /// Others choose names: in a message, a line break could begin one that looks like ours.
    var withoutControls: String {
        String(
            String.UnicodeScalarView(
                unicodeScalars.map { $0.properties.generalCategory == .control ? "\u{FFFD}" : $0 }))
    }
}
