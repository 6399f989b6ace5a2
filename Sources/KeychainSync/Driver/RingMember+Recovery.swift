// SPDX-License-Identifier: Apache-2.0
// A key on paper that lets a machine into the ring when all others are lost.

import Foundation
import KeychainCrypto
package import KeychainEngine
import KeychainSyncCore
import KeychainVault
package import SecretMemory

extension RingMember {
    /// Adds a recovery key to the ring: a member that is no machine, whose keys follow from a text on paper.
    ///
    /// It works once this machine has exchanged. If it is interrupted or fails before that, repeat it: the new key takes the place of the
    /// unfinished one.
    ///
    /// - Parameter show: Shows the text, before the key is in the ring: nobody would have a key that was added first and not shown. If
    ///   it throws, nothing is added.
    /// - Returns: The text. It is shown once. Anyone with it and the carrier reads all shared items, and can add machines.
    @discardableResult
    package func addRecoveryKey(
        showing show: (SecretBytes) throws(KeychainError) -> Void = { _ in }
    ) async throws(KeychainError) -> SecretBytes {
        let key = RecoveryKey.make()
        let card: MemberCard
        do {
            card = MemberCard(
                role: .recovery, keys: try DeviceKeys(recoveryKey: key).publicKeys(), name: "recovery key")
        } catch {
            throw KeychainError(exchange: error)
        }
        // What would be refused is not shown.
        try await addRecoveryMember(card, isTrial: true)
        let text = RecoveryKey.text(key)
        try show(text)
        do throws(KeychainError) {
            try await addRecoveryMember(card)
        } catch {
            throw KeychainError(
                error.reason, "The recovery key that was shown cannot be used. Throw it away. \(error.message)")
        }
        return text
    }

    private func addRecoveryMember(_ card: MemberCard, isTrial: Bool = false) async throws(KeychainError) {
        var report = ExchangeReport()
        _ = try await take(&report) { state, now in
            // Otherwise the next check would tell a removed machine to wait for keys that it never gets.
            guard state.mayWrite else { throw Refusal.notAMember }
            try state.checkRenewed()
            var new = state
            try new.replaceUnfinishedRecovery(by: card, at: now)
            if !isTrial { state = new }
            // The next exchange publishes what the carrier lacks.
            return []
        }
    }

    /// Enters a ring without another machine.
    ///
    /// Does not protect against a carrier that shows an old state of the ring: there is no invitation that names the newest one.
    ///
    /// - Parameters:
    ///   - recoveryKey: The 32 bytes that the text on paper encodes.
    ///   - name: The name of this machine for the others.
    /// - Throws: `itemNotFound` if no ring at the place has this recovery key; `unavailable` if one has it, and the place lacks what opens
    ///   its newest keys; `newerFormat` or `corrupt` if one has it and cannot be opened.
    package func join(
        recoveryKey: SecretBytes, name: String, at place: CarrierPlace
    ) async throws(KeychainError) -> ExchangeReport {
        try await checkMayEnter()
        let recovery = DeviceKeys(recoveryKey: recoveryKey)
        // One ring that cannot be opened must not hide another one.
        var failure = KeychainError.noRingOfKey
        for ring in try await rings(at: place) {
            let carrier = try carrier(of: ring, at: place)
            let opened: OpenedRing
            switch try await open(ring, carrier, recovery) {
            case .success(let ring): opened = ring
            case .failure(let error):
                failure = error
                continue
            case nil: continue
            }
            let replica = try Self.admitted(opened, by: recovery, name: name)
            // The exchange publishes that this machine is a member. If it was published before, and this machine interrupted, the
            // next attempt would add another one.
            try await blocking { [self] () throws(KeychainError) -> Void in try enter(replica, place) }
            return try await exchange(tidying: .atOnce)
        }
        throw failure
    }

    /// - Returns: `nil` if the ring does not have this key.
    private func open(
        _ ring: RingID, _ carrier: any Carrier, _ keys: DeviceKeys
    ) async throws(KeychainError) -> Result<OpenedRing, KeychainError>? {
        let member: MemberID
        do { member = try keys.publicKeys().member } catch { throw KeychainError(exchange: error) }
        let objects = try await objects(for: member, try await carrier.listing(), carrier)
        do {
            return .success(
                try OpenedRing(ring, tips: [], for: keys, wraps: objects.wraps, entries: objects.entries))
        } catch {
            switch error {
            case .notAMember: return nil
            case .noKey where keys.areMember(objects): return .failure(.lostRecoveryWrap.naming(objects.unread))
            case .noKey: return nil
            default: return .failure(KeychainError(exchange: error).naming(objects.unread))
            }
        }
    }

    private static func admitted(
        _ opened: OpenedRing, by recovery: DeviceKeys, name: String
    ) throws(KeychainError) -> Replica {
        do {
            let keys = DeviceKeys.make()
            var sponsor = try Replica(keys: recovery, log: opened.log, keyring: opened.keyring)
            _ = try sponsor.admit(MemberCard(role: .device, keys: try keys.publicKeys(), name: name))
            return try Replica(keys: keys, log: sponsor.log, keyring: sponsor.keyring)
        } catch {
            throw KeychainError(exchange: error)
        }
    }
}

extension RingState {
    /// Adds a recovery member. One that this machine has added, and that has not reached the carrier as far as is known, is removed:
    /// whoever repeats the command after a failure does not know that the former key would work too.
    fileprivate mutating func replaceUnfinishedRecovery(by card: MemberCard, at now: UInt64) throws(Refusal) {
        let unfinished = replica.unlisted.compactMap { hash -> MemberID? in
            guard case .add(let card) = replica.log.entries[hash]?.action, card.role == .recovery,
                replica.ring.isActive(card.id)
            else { return nil }
            return card.id
        }
        if !unfinished.isEmpty {
            _ = try replica.remove(unfinished, at: now)
            // The new key reads earlier items from a snapshot under the new keys of the ring. This machine waits for nobody's turn.
            neededSince = 1
        }
        _ = try replica.admit(card)
    }
}

extension DeviceKeys {
    /// Whether keys of the ring are there for these, also earlier or damaged ones: then they are of one of its members.
    fileprivate func areMember(_ objects: RingObjects) -> Bool {
        objects.wraps.contains { open($0) } || objects.unread.contains(where: \.isWrap)
    }

    /// Whether a wrap was made for these keys.
    private func open(_ wrap: Data) -> Bool { (try? KeyWrap(wrap).open(with: wrapping)) != nil }
}

extension KeychainError {
    fileprivate static let lostRecoveryWrap = KeychainError(
        .unavailable,
        "A ring there has this recovery key, but its newest keys are missing there, or an entry of its log is missing or damaged. "
            + "They may still arrive. Nothing was changed. If a machine of the ring is left, run on it: keychainctl sync now; ten minutes later again; then try here again. If "
            + "none is left, put the folder or the etcd back from a backup that is complete."
    )
    fileprivate static let noRingOfKey = KeychainError(
        .itemNotFound,
        "No ring there has this recovery key. Perhaps not everything has arrived yet, or the key was removed from the ring."
    )
}
