// SPDX-License-Identifier: Apache-2.0
// Machines that ask to be let in, among everything else that lies where they ask.

import Foundation
import KeychainEngine
import KeychainSyncCore
import SecretMemory

extension RingMember {
    /// Answers machines that ask to join with the code of an invitation from this one.
    ///
    /// - Parameter invitations: Those that were open when everything was fetched. The next exchange sees to newer ones.
    func letIn(
        _ listing: Listing, _ invitations: [InvitationID: Invitation], _ carrier: any Carrier,
        _ report: inout ExchangeReport
    ) async throws(KeychainError) {
        for (id, invitation) in invitations {
            let names = listing.names.filter { if case .request(id, _) = $0 { true } else { false } }.sorted()
            let requests = try await requests(names, listing, invitation, carrier)
            var (done, isOver) = (requests.foreign, false)
            if !requests.asked.isEmpty || invitation.isOver(at: now) {
                let (answers, hasEnded) = try await answer(requests.asked.map(\.bytes), to: id, carrier, &report)
                isOver = hasEnded
                let answered = zip(requests.asked.map(\.name), answers)
                done.formUnion(answered.filter { $1.isFinal }.map(\.0))
                // Something else under the name of a machine that waits does not end its waiting.
                done.subtract(answered.filter { !$1.isFinal }.map(\.0))
            }
            try await carrier.removing(isOver ? names + [invitation.objectName] : done.sorted())
        }
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

    /// Of everything that lies there, what machines with the code have asked, and what is none of it. Anybody can put any number of
    /// objects there, so all are looked at, in parts, and only what is authentic is kept.
    private func requests(
        _ names: [ObjectName], _ listing: Listing, _ invitation: Invitation, _ carrier: any Carrier
    ) async throws(KeychainError) -> (asked: [(name: ObjectName, bytes: Data)], foreign: Set<ObjectName>) {
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
