// SPDX-License-Identifier: Apache-2.0
// A ring log and the keys of all who have signed it.

import Foundation
import KeychainCrypto
import SyncSimulation
import Testing

@testable import KeychainSyncCore

/// A ring, and machines that were added one after the other: the earlier, the more senior.
struct Fleet {
    var log: RingLog
    let ringKeys: RingKeys
    var keys: [DeviceKeys]
    var ids: [MemberID]

    init(_ count: Int) throws {
        let founder = DeviceKeys.make()
        (log, ringKeys, _) = try RingLog.found(name: "0", keys: founder)
        (keys, ids) = ([founder], [try founder.publicKeys().member])
        for index in 1..<max(count, 1) { try add("\(index)") }
    }

    mutating func add(_ name: String, _ role: Role = .device, by author: Int = 0) throws {
        let keys = DeviceKeys.make()
        _ = try log.append(.add(try card(keys, name, role)), author: ids[author], signer: self.keys[author])
        self.keys.append(keys)
        ids.append(try keys.publicKeys().member)
    }

    func card(_ keys: DeviceKeys, _ name: String, _ role: Role = .device) throws -> MemberCard {
        MemberCard(role: role, keys: try keys.publicKeys(), name: name)
    }

    /// An entry that follows `log`, signed by a member, whether or not it counts.
    func entry(_ action: RingAction, by author: Int, after log: RingLog? = nil) throws -> RingEntry {
        let log = log ?? self.log
        return try RingEntry(ring: log.id, parents: log.tips, author: ids[author], action: action)
            .signed(by: keys[author])
    }

    func removal(of target: Int, by author: Int, after log: RingLog? = nil) throws -> RingEntry {
        try entry(.remove([Removal(member: ids[target], cuts: [:])]), by: author, after: log)
    }

    func active(after entries: [RingEntry]) throws -> [Int] {
        var log = log
        log.insert(entries)
        return ids.indices.filter { log.ring.isActive(ids[$0]) }
    }

    /// A member that was never added by an entry that counts, such as one that a thief adds.
    mutating func stranger(_ role: Role = .device) throws -> MemberCard {
        let keys = DeviceKeys.make()
        let card = try card(keys, "p\(ids.count)", role)
        self.keys.append(keys)
        ids.append(card.id)
        return card
    }

    func entry(_ action: RingAction, by author: Int, following parents: [EntryHash]) throws -> RingEntry {
        try RingEntry(ring: log.id, parents: parents, author: ids[author], action: action).signed(by: keys[author])
    }

    func removing(_ targets: Int...) -> RingAction {
        .remove(targets.map { ids[$0] }.sorted().map { Removal(member: $0, cuts: [:]) })
    }

    /// Whom removals that do not count would put out, by the member to which they belong.
    var contests: [Int: Set<Int>] {
        var contests: [Int: Set<Int>] = [:]
        for case (.removals(let author), let contest) in log.ring.contests {
            contests[ids.firstIndex(of: author) ?? -1] = Set(contest.targets.compactMap(ids.firstIndex))
        }
        return contests
    }

    /// Members that were removed and are there again, and those that have come through them.
    var returned: Set<Int> {
        let members = log.ring.contests.keys.compactMap { if case .returned(let member) = $0 { member } else { nil } }
        return Set(members.compactMap(ids.firstIndex))
    }

    func isActive(_ member: Int) -> Bool { log.ring.isActive(ids[member]) }

    /// The log as a machine has it that is started again.
    func restarted() throws -> RingLog {
        try RingLog(founding: try #require(log.entries[log.id]), taken: Array(log.entries.values))
    }

    /// The log of a machine that hears of everything at once.
    func fresh() throws -> RingLog {
        var log = try RingLog(founding: try #require(log.entries[log.id]))
        log.insert(Array(self.log.entries.values))
        return log
    }
}
