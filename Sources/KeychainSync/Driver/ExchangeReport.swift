// SPDX-License-Identifier: Apache-2.0
// What an exchange did, and which machines wait for a person.

package import KeychainSyncCore

/// The result of an exchange.
package struct ExchangeReport: Sendable {
    /// How many items of this machine were changed or removed.
    package var applied = 0
    /// How many local changes were collected.
    package var taken = 0
    /// How many local changes have reached the carrier.
    package var sent = 0
    /// How many objects were published.
    package var published = 0
    /// Findings for the user. They do not stop the exchange.
    package var findings: Set<SyncFinding> = []
    var names = MachineNames()
    /// The names of machines that were admitted.
    package var admitted: [String] = []
    /// Machines that ask to be admitted, and wait for ``RingMember/approve(_:)``.
    package var waiting: [WaitingMachine] = []
}

extension ExchangeReport {
    /// The texts of the findings, in ascending order.
    package var texts: [String] { findings.map { $0.text(names) }.sorted() }
    var hasMoved: Bool { applied + taken + published > 0 }
    /// Whether everything was read that the carrier has, as far as it can be. If not, the next exchange continues.
    package var isComplete: Bool { !findings.contains(.unread) }

    /// Adds what a later exchange of the same call did.
    mutating func add(_ other: ExchangeReport) {
        applied += other.applied
        taken += other.taken
        sent += other.sent
        published += other.published
        findings.formUnion(other.findings)
        if other.isComplete { findings.remove(.unread) }
        if !other.findings.isEmpty { names = other.names }
        admitted += other.admitted
        waiting = other.waiting
    }

    mutating func note(_ answers: [Invitation.Answer]) {
        for answer in answers {
            switch answer {
            case .admitted(let card, _, _): admitted.append(card.name)
            case .waiting(let card):
                waiting.append(WaitingMachine(id: card.keys.member, name: card.name, role: card.role))
            case .postponed, .expired, .usedUp, .refused: break
            }
        }
    }
}

/// A machine that has the code of an invitation and waits for a person's approval.
package struct WaitingMachine: Hashable, Sendable {
    package let id: MemberID
    package let name: String
    package let role: Role

    /// The whole ID in groups, for people who compare it on both machines: `1a2b-3c4d-…`.
    package static func text(_ id: MemberID) -> String {
        let digits = Array(id.hex)
        return stride(from: 0, to: digits.count, by: 4).map { String(digits[$0..<min($0 + 4, digits.count)]) }
            .joined(separator: "-")
    }

    /// - Parameter text: As ``text(_:)`` makes it; hyphens and case do not matter.
    package static func id(_ text: String) -> MemberID? {
        let digits = text.utf8.filter { $0 != UInt8(ascii: "-") }.map { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count == 32, !digits.contains(nil) else { return nil }
        let values = digits.compactMap { $0 }
        return MemberID(stride(from: 0, to: 32, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) })
    }
}
