// SPDX-License-Identifier: Apache-2.0
// Machines that ask to be let in, among everything else that lies where they ask.

import Foundation
import KeychainEngine
import KeychainSyncCore
import SecretMemory

extension RingMember {
    /// Answers machines that ask to join with the code of an invitation from this one: one of those that were open when everything was
    /// fetched. The next exchange sees to newer ones.
    func letIn(
        _ fetched: FetchedRing, _ carrier: any Carrier, _ report: inout ExchangeReport
    ) async throws(KeychainError) {
        let listing = fetched.listing
        var isReread = false
        for (id, invitation) in fetched.state.invitations {
            let names = listing.names.filter { if case .request(id, _) = $0 { true } else { false } }.sorted()
            let requests = try await requests(names, listing, invitation, carrier)
            if !isReread, requests.asked.contains(where: { invitation.letsIn($0.bytes) }) {
                // What is damaged there would keep the machine out.
                try await reread(fetched.state.replica.essentials(in: listing), carrier, &report)
                isReread = true
            }
            let (done, isOver) = try await answer(requests, by: invitation, id, carrier, &report)
            try await carrier.removing(isOver ? names + [invitation.objectName] : done.sorted())
        }
    }

    /// - Returns: The requests of which nothing else will become, and whether the invitation is over.
    private func answer(
        _ requests: Requests, by invitation: Invitation, _ id: InvitationID, _ carrier: any Carrier,
        _ report: inout ExchangeReport
    ) async throws(KeychainError) -> (done: Set<ObjectName>, isOver: Bool) {
        guard !requests.asked.isEmpty || invitation.isOver(at: now) else { return (requests.foreign, false) }
        let (answers, isOver) = try await answer(requests.asked.map(\.bytes), to: id, carrier, &report)
        let answered = zip(requests.asked.map(\.name), answers)
        let done = requests.foreign.union(answered.filter { $1.isFinal }.map(\.0))
        // Something else under the name of a machine that waits does not end its waiting.
        return (done.subtracting(answered.filter { !$1.isFinal }.map(\.0)), isOver)
    }

    /// - Returns: An answer to each request, and whether the invitation is over.
    private func answer(
        _ requests: [Data], to id: InvitationID, _ carrier: any Carrier, _ report: inout ExchangeReport
    ) async throws(KeychainError) -> ([Invitation.Answer], isOver: Bool) {
        let given = Guarded<[Invitation.Answer]>([])
        let answered = try await take(&report) { state, now in
            guard var invitation = state.invitations[id] else { return [] }
            try state.checkDecided()
            let (answers, effects) = try state.replica.answer(requests, to: &invitation, at: now)
            state.invitations[id] = invitation.isOver(at: now) ? nil : invitation
            given.withLock { $0 = answers }
            return effects
        }
        _ = try await carryOut(answered.effects, carrier, &report)
        let answers = given.withLock { $0 }
        report.note(answers)
        return (answers, answered.state.invitations[id] == nil)
    }

    private typealias Requests = (asked: [(name: ObjectName, bytes: Data)], foreign: Set<ObjectName>)

    /// Of everything that lies there, what machines with the code have asked, and what is none of it. Anybody can put any number of
    /// objects there, so all are looked at, in parts, and only what is authentic is kept.
    private func requests(
        _ names: [ObjectName], _ listing: Listing, _ invitation: Invitation, _ carrier: any Carrier
    ) async throws(KeychainError) -> Requests {
        var (asked, foreign) = ([ObjectName: Data](), Set(names.filter { listing.isTooLongForRequest($0) }))
        for part in listing.parts(of: names.filter { !foreign.contains($0) }) {
            for (name, bytes) in try await carrier.reading(part) {
                if invitation.isRequest(name, bytes) { asked[name] = bytes } else { foreign.insert(name) }
            }
        }
        return (asked.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }, foreign)
    }
}

extension Invitation.Answer {
    /// Whether nothing else will become of the request.
    fileprivate var isFinal: Bool {
        switch self {
        case .waiting, .postponed: false
        case .admitted, .expired, .usedUp, .refused: true
        }
    }
}

extension Listing {
    /// One that is shorter may not have been copied wholly.
    fileprivate func isTooLongForRequest(_ name: ObjectName) -> Bool {
        guard let contents = contents[name], !contents.isEmpty else { return false }
        return contents.allSatisfy { $0.size > JoinRequest.length }
    }

    /// Names that are read at once.
    fileprivate func parts(of names: [ObjectName]) -> [[ObjectName]] {
        let most = (count: 1000, bytes: 16 << 20)
        var (parts, bytes): ([[ObjectName]], Int) = ([], 0)
        for name in names {
            let size = contents[name]?.reduce(0) { $0 + $1.size } ?? 0
            if parts.isEmpty || bytes + size > most.bytes || parts.last?.count == most.count {
                (parts, bytes) = (parts + [[]], 0)
            }
            parts[parts.count - 1].append(name)
            bytes += size
        }
        return parts
    }
}
