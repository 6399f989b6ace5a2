// SPDX-License-Identifier: Apache-2.0
// A ring as JSON.

import Foundation
import KeychainKit
import KeychainSync
import KeychainSyncCore

/// A ring as `sync status --json` shows it. Every key is there; what there is not is `null`.
struct RingJSON: Encodable {
    struct Machine: Encodable {
        let id: String
        let name: String
        let role: String
        let thisMachine: Bool
        let lastSeen: String?

        private enum Key: String, CodingKey { case id, name, role, thisMachine, lastSeen }

        func encode(to encoder: any Encoder) throws {
            var object = encoder.container(keyedBy: Key.self)
            try object.encode(id, forKey: .id)
            try object.encode(name, forKey: .name)
            try object.encode(role, forKey: .role)
            try object.encode(thisMachine, forKey: .thisMachine)
            try object.encode(lastSeen, forKey: .lastSeen)
        }
    }

    struct Notice: Encodable {
        let kind: String
        let message: String
        let since: String?

        private enum Key: String, CodingKey { case kind, message, since }

        func encode(to encoder: any Encoder) throws {
            var object = encoder.container(keyedBy: Key.self)
            try object.encode(kind, forKey: .kind)
            try object.encode(message, forKey: .message)
            try object.encode(since, forKey: .since)
        }
    }

    struct Failure: Encodable {
        let reason: String
        let message: String
        let since: String?

        private enum Key: String, CodingKey { case reason, message, since }

        func encode(to encoder: any Encoder) throws {
            var object = encoder.container(keyedBy: Key.self)
            try object.encode(reason, forKey: .reason)
            try object.encode(message, forKey: .message)
            try object.encode(since, forKey: .since)
        }
    }

    let ring: String
    let place: String
    let groups: [String]?
    let machines: [Machine]
    let member: Bool
    let items: Int
    let staying: Int
    let pending: Int
    let unused: Int
    let conflicts: Int
    let kept: Int
    let recoveryKey: Bool
    let invitations: Int
    let lastExchange: String?
    let paused: Bool
    let compare: String
    let notices: [Notice]
    let failure: Failure?

    init(_ status: RingStatus) {
        ring = status.ring.hex
        place = status.place.text
        groups = status.groups
        machines = status.members.map {
            Machine(
                id: $0.id.hex, name: $0.name, role: "\($0.role)", thisMachine: $0.isThisMachine,
                lastSeen: $0.isThisMachine ? nil : $0.lastSeen.flatMap(Self.date))
        }
        member = status.isMember
        items = status.items
        staying = status.staying
        pending = status.pending
        unused = status.unused
        conflicts = status.conflicts
        kept = status.kept
        recoveryKey = status.hasRecoveryKey
        invitations = status.openInvitations
        lastExchange = Self.date(status.lastExchange)
        paused = status.isPaused
        compare = status.compareCode
        notices = status.notices.map {
            Notice(kind: $0.kind, message: $0.message, since: Self.date($0.since))
        }
        failure = status.failure.map {
            Failure(reason: $0.error.reason.rawValue, message: $0.error.message, since: Self.date($0.since))
        }
    }

    private enum Key: String, CodingKey {
        case ring, place, groups, machines, member, items, staying, pending, unused, conflicts, kept, recoveryKey
        case invitations, lastExchange, paused, compare, notices, failure
    }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(ring, forKey: .ring)
        try object.encode(place, forKey: .place)
        try object.encode(groups, forKey: .groups)
        try object.encode(machines, forKey: .machines)
        try object.encode(member, forKey: .member)
        try object.encode(items, forKey: .items)
        try object.encode(staying, forKey: .staying)
        try object.encode(pending, forKey: .pending)
        try object.encode(unused, forKey: .unused)
        try object.encode(conflicts, forKey: .conflicts)
        try object.encode(kept, forKey: .kept)
        try object.encode(recoveryKey, forKey: .recoveryKey)
        try object.encode(invitations, forKey: .invitations)
        try object.encode(lastExchange, forKey: .lastExchange)
        try object.encode(paused, forKey: .paused)
        try object.encode(compare, forKey: .compare)
        try object.encode(notices, forKey: .notices)
        try object.encode(failure, forKey: .failure)
    }

    private static func date(_ milliseconds: UInt64) -> String? {
        milliseconds == 0 ? nil : Date(timeIntervalSince1970: Double(milliseconds) / 1000).ISO8601Format()
    }
}
