// SPDX-License-Identifier: Apache-2.0
// Asking to be let in, and going on where an interrupted attempt has stopped.

import Foundation
import KeychainEngine
import KeychainSyncCore
import KeychainVault
import SecretMemory

extension RingMember {
    /// The invitation of a code, with the keys of this machine for it. They are stored before anybody learns of them.
    ///
    /// - Returns: Whether the invitation is still open. If not, this machine has asked before.
    /// - Throws: `itemNotFound` if there is no such invitation, and this machine has not asked; `newerFormat` if a newer version has made
    ///   the invitation or asked with it.
    func invitation(
        _ code: SecretBytes, at place: CarrierPlace
    ) async throws(KeychainError) -> (Joiner, any Carrier, isOpen: Bool) {
        let new = Joiner(code: code, keys: .make())
        let former = try await askingKeys(of: new)
        for ring in try await rings(at: place) {
            let carrier = try carrier(of: ring, at: place)
            for object in try await carrier.reading([new.objectName]) {
                var joiner = Joiner(code: code, keys: former?.keys ?? new.keys)
                guard try joiner.accepts(object.bytes) else { continue }
                guard joiner.offer?.ring == ring else { continue }
                let own = AskingKeys(keys: joiner.keys, offer: object.bytes)
                return (try await keeping(own, of: joiner, code), carrier, true)
            }
        }
        guard let former else { throw .notInvited }
        var joiner = Joiner(code: code, keys: former.keys)
        guard try joiner.accepts(former.offer), let offer = joiner.offer else { throw .notInvited }
        return (joiner, try carrier(of: offer.ring, at: place), false)
    }

    /// - Returns: `nil` if there is no vault yet, or this machine has not asked.
    private func askingKeys(of joiner: Joiner) async throws(KeychainError) -> AskingKeys? {
        guard case .invitation(let id) = joiner.objectName else { return nil }
        return try await blocking { [vault] () throws(KeychainError) -> AskingKeys? in
            // A write would make a vault.
            guard try vault.status().exists else { return nil }
            defer { scrubResidue() }
            return try vault.inRing { (transaction) throws(KeychainError) in
                try AskingKeysItem.read(id, transaction)
            }
        }
    }

    /// Stores the keys. Of several processes that ask at the same time, all have the keys of the first one.
    private func keeping(
        _ own: AskingKeys, of joiner: Joiner, _ code: SecretBytes
    ) async throws(KeychainError) -> Joiner {
        guard case .invitation(let id) = joiner.objectName else { return joiner }
        let stored = try await blocking { [vault] () throws(KeychainError) -> AskingKeys in
            defer { scrubResidue() }
            return try vault.inRing { (transaction) throws(KeychainError) in
                guard !transaction.isInRing else { throw .alreadyInRing }
                if let first = try AskingKeysItem.read(id, transaction) { return first }
                try AskingKeysItem.write(own, for: id, transaction)
                return own
            }
        }
        var joiner = Joiner(code: code, keys: stored.keys)
        do { try joiner.received(own.offer) } catch { throw KeychainError(exchange: error) }
        return joiner
    }

    private func forgetAskingKeys() async throws(KeychainError) {
        try await blocking { [vault] () throws(KeychainError) -> Void in
            try vault.inRing { (transaction) throws(KeychainError) in try AskingKeysItem.remove(transaction) }
        }
    }

    // MARK: - Asking

    /// The ring, if this machine was admitted while it did not wait for it.
    func admitted(
        _ joiner: Joiner, _ carrier: any Carrier, _ gone: () -> Void
    ) async throws(KeychainError) -> OpenedRing {
        let member: MemberID
        do { member = try joiner.keys.publicKeys().member } catch { throw KeychainError(exchange: error) }
        let objects = try await objects(for: member, try await carrier.listing(), carrier)
        do {
            return try joiner.finish(wraps: objects.wraps, entries: objects.entries)
        } catch {
            if error == .newerFormat { throw KeychainError(exchange: error) }
            gone()
            throw .invitationIsOver(.itemNotFound).naming(objects.unread)
        }
    }

    /// Asks, and waits until another machine admits this one.
    func ask(
        _ joiner: Joiner, _ carrier: any Carrier, until end: ContinuousClock.Instant, _ interval: Duration,
        _ asked: (MemberID) -> Void, _ gone: () -> Void
    ) async throws(KeychainError) -> OpenedRing {
        let (member, asking): (MemberID, (ObjectName, Data)?)
        do {
            (member, asking) = (try joiner.keys.publicKeys().member, try joiner.request())
        } catch {
            throw KeychainError(exchange: error)
        }
        guard let (name, request) = asking else { throw .notInvited }
        _ = try await carrier.publishing(name, request)
        asked(member)
        do throws(KeychainError) {
            return try await answer(to: joiner, member, carrier, until: end, interval, gone)
        } catch {
            // A machine that no longer waits must not be admitted. This task may be cancelled.
            await Task { do { try await carrier.removing([name]) } catch {} }.value
            throw error
        }
    }

    /// A carrier that fails meanwhile is tried again. The machine that lets this one in also removes the invitation, and the keys that it has
    /// written before may arrive long after that.
    private func answer(
        to joiner: Joiner, _ member: MemberID, _ carrier: any Carrier, until end: ContinuousClock.Instant,
        _ interval: Duration, _ gone: () -> Void
    ) async throws(KeychainError) -> OpenedRing {
        let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let sources = [Self.forward(carrier, signal), Self.repeating(interval, signal)]
        defer { for source in sources { source.cancel() } }
        signal.yield()
        var (isGone, unread) = (false, [ObjectName]())
        for await _ in signals {
            var refusal = Refusal.noKey
            do throws(KeychainError) {
                let listing = try await carrier.listing()
                let objects = try await objects(for: member, listing, carrier)
                unread = objects.unread
                do {
                    return try joiner.finish(wraps: objects.wraps, entries: objects.entries)
                } catch { refusal = error }
                let wasGone = isGone
                isGone = !listing.names.contains(joiner.objectName)
                if isGone, !wasGone { gone() }
            } catch {
                guard error.reason == .unavailable, ContinuousClock.now < end else { throw error }
            }
            guard ContinuousClock.now < end else {
                // A machine that was removed meanwhile is not admitted again.
                if refusal == .notAMember { try await forgetAskingKeys() }
                if refusal == .newerFormat { throw KeychainError(exchange: refusal) }
                throw (isGone ? KeychainError.invitationIsOver(.timedOut) : .notLetIn).naming(unread)
            }
        }
        throw KeychainError(.cancelled, "Joining was cancelled. This machine is in no ring.")
    }

    /// What opens a ring for a member.
    func objects(
        for member: MemberID, _ listing: Listing, _ carrier: any Carrier
    ) async throws(KeychainError) -> RingObjects {
        let names = listing.names.filter {
            switch $0 {
            case .wrap(_, member), .entry: true
            default: false
            }
        }
        return RingObjects(names.sorted(), try await carrier.reading(names.sorted()))
    }
}

/// What opens a ring for a member, as far as its carrier gives it.
struct RingObjects {
    /// For the member.
    let wraps: [Data]
    /// Of the log of the ring.
    let entries: [Data]
    /// What the carrier lists, and does not give: it is damaged, or has not arrived wholly.
    let unread: [ObjectName]

    fileprivate init(_ names: [ObjectName], _ objects: [(name: ObjectName, bytes: Data)]) {
        wraps = objects.filter { $0.name.isWrap }.map(\.bytes)
        entries = objects.filter { !$0.name.isWrap }.map(\.bytes)
        let read = Set(objects.map(\.name))
        unread = names.filter { !read.contains($0) }
    }
}

extension Joiner {
    /// Whether the object is the invitation that the code is for.
    ///
    /// - Throws: `newerFormat` if it is, and this version cannot read it.
    fileprivate mutating func accepts(_ object: Data) throws(KeychainError) -> Bool {
        do throws(Refusal) {
            try received(object)
            return true
        } catch {
            guard error != .newerFormat else { throw .newerInvitation }
            return false
        }
    }
}

extension ObjectName {
    var isWrap: Bool { if case .wrap = self { true } else { false } }
}

extension KeychainError {
    /// The same error, with the names of what keeps a machine out, if anything.
    func naming(_ unread: [ObjectName]) -> KeychainError {
        guard !unread.isEmpty else { return self }
        let names = unread.prefix(3).map { "'\($0.text)'" }.joined(separator: ", ")
        let others = unread.count > 3 ? " and \(unread.count - 3) more" : ""
        return KeychainError(
            reason,
            "\(message) There, these are damaged or have not arrived wholly: \(names)\(others). If that lasts, run on a machine of the ring: "
                + "keychainctl sync repair; then join again here.")
    }
}

extension KeychainError {
    fileprivate static let notInvited = KeychainError(
        .itemNotFound,
        "There is no invitation with this code. It may not have arrived yet, may have expired, or the code is mistyped."
    )
    fileprivate static let newerInvitation = KeychainError(
        .newerFormat,
        "A newer version of swift-keychain has made this invitation. Update this machine, and join again with the same code."
    )
    /// Which of these it is, this machine cannot tell: it cannot read the ring.
    fileprivate static func invitationIsOver(_ reason: Reason) -> KeychainError {
        KeychainError(
            reason,
            "The invitation is over, and no keys for this machine have arrived. If 'keychainctl sync status' on the other machine shows this "
                + "one, they are on their way: join again with the same code. Otherwise its code was used by another machine, has expired or "
                + "was withdrawn. Then make another one there: keychainctl sync invite")
    }
    fileprivate static let notLetIn = KeychainError(
        .timedOut,
        "The machine that made the invitation has not answered yet. Run there: keychainctl sync now, or keychainctl sync approve if it "
            + "asks for approval. Then join again here."
    )
}
