// SPDX-License-Identifier: Apache-2.0
// Making a ring, and its members.

public import KeychainEngine
import KeychainSyncCore
public import SecretMemory

extension KeychainSync {
    /// Founds a ring with this machine as its first member, and exchanges for the first time.
    ///
    /// - Parameters:
    ///   - name: The name of this machine for the others: 1 to 128 bytes without control characters.
    ///   - place: Where the machines meet.
    ///   - groups: The access groups whose items are shared: 1 to 64 names of 1 to 128 bytes; `nil`: all. They cannot be changed later.
    /// - Throws: `invalidParameter` for other names, or if the vault is in a ring already; `unavailable` if the place cannot be reached;
    ///   `unsafeLocation` if it is the vault's folder or is in it; `unsupported` if no way of this program leads there; `locked`; errors
    ///   of ``now(timeout:)``.
    @discardableResult
    public func found(
        name: String, at place: SyncPlace, sharing groups: Set<String>? = nil
    ) async throws(KeychainError) -> SyncReport {
        try Self.check(name: name)
        return SyncReport(try await member.found(name: name, at: place.place, sharing: groups))
    }

    /// Invites a machine.
    ///
    /// A machine that enters the code in time with ``join(code:at:timeout:asked:)`` becomes a member when this one exchanges next.
    ///
    /// Does not protect against people who see the code: anyone with it and access to the place can join in time, and read everything.
    ///
    /// - Parameters:
    ///   - name: The name of the new machine, as in ``found(name:at:sharing:)``. With several uses, a part of its ID is appended.
    ///   - duration: How long the code is valid, by the clock of this machine; more than zero.
    ///   - uses: How many machines can join with it: 1 to 10,000.
    ///   - onlyReads: Whether these machines only read. The others take no change from them. What they change themselves stays with
    ///     them, and each of their exchanges says so (``SyncNotice/Kind/notSent``).
    ///   - needsApproval: Whether each machine waits until ``approve(_:)`` lets it in. Both machines show its ID, so that a person can
    ///     tell whether it is theirs, even if somebody else has seen the code.
    /// - Returns: The code as text to read out or type: 29 bytes of ASCII, `7K2M-XXXX-…`. It cannot be shown again.
    /// - Throws: `invalidParameter`; `missingEntitlement` if this machine is no member that may add others; `unavailable`, also while sync
    ///   is paused; `locked`; `cancelled`; errors of the carrier. Then there is no invitation.
    public func invite(
        name: String, validFor duration: Duration = .seconds(3600), uses: Int = 1, onlyReads: Bool = false,
        needsApproval: Bool = false
    ) async throws(KeychainError) -> SecretBytes {
        try Self.check(name: name)
        guard duration > .zero, (1...10_000).contains(uses) else {
            throw KeychainError(
                .invalidParameter,
                "An invitation is valid for more than no time, and for 1 to 10,000 machines. Give other numbers.")
        }
        return RingMember.text(
            of: try await member.invite(
                name: name, for: duration, uses: uses, role: onlyReads ? .reader : .device,
                needsApproval: needsApproval))
    }

    /// Lets machines in that wait for it, and exchanges.
    ///
    /// - Parameter requests: The ``SyncRequest/id`` of those in ``SyncReport/waiting`` that a person has compared.
    /// - Returns: The exchange. ``SyncReport/admitted`` has the machines that are let in now; one whose invitation has expired is not
    ///   among them.
    /// - Throws: `itemNotFound` if one of them is no ID; `unavailable`, `locked`, and errors of ``now(timeout:)``. Unless sync is paused,
    ///   the approval is stored even if the exchange fails, as the message says.
    @discardableResult
    public func approve(_ requests: [SyncRequest.ID]) async throws(KeychainError) -> SyncReport {
        let machines = try requests.map { (request) throws(KeychainError) in
            guard let id = WaitingMachine.id(request) else {
                throw KeychainError(
                    .itemNotFound, "'\(request)' is not the ID of a machine. Take one of those that a report has.")
            }
            return id
        }
        return SyncReport(try await member.approve(machines))
    }

    /// Enters a ring with the code of an invitation, and merges the items of this machine with those of the ring.
    ///
    /// Nothing of this machine is published before the code has proven who made the invitation.
    ///
    /// - Parameters:
    ///   - code: As ``invite(name:validFor:uses:onlyReads:needsApproval:)`` returned it. Case, spaces and hyphens do not matter.
    ///   - place: The same place as in ``found(name:at:sharing:)``, as this machine reaches it.
    ///   - timeout: How long to wait until the machine that made the invitation exchanges.
    ///   - asked: Is given the ``SyncRequest/id`` of this machine when it has asked, for a person who compares it. Only an invitation that
    ///     needs approval needs that.
    /// - Throws: `invalidParameter` if the code is mistyped, or the vault is in a ring already; `itemNotFound` if the place has no
    ///   invitation with this code; `timedOut` if no machine has answered in time; `unavailable`, `unsafeLocation`, `unsupported` as in
    ///   ``found(name:at:sharing:)``; `locked`; `cancelled`; errors of ``now(timeout:)``. After `timedOut` it can be tried again.
    @discardableResult
    public func join(
        code: SecretBytes, at place: SyncPlace, timeout: Duration = .seconds(600),
        asked: (SyncRequest.ID) -> Void = { _ in }
    ) async throws(KeychainError) -> SyncReport {
        guard let code = RingMember.code(from: code) else {
            throw KeychainError(
                .invalidParameter, "The code is mistyped. It has 24 letters and digits. Enter it again.")
        }
        return SyncReport(
            try await member.join(code, at: place.place, wait: timeout) { asked(WaitingMachine.text($0)) })
    }

    /// Removes a machine from the ring, and makes new keys, which it does not get.
    ///
    /// Does not take back what the machine has: change the secrets that it knew.
    ///
    /// This machine exchanges first: what the removed machine has sent, and this one has not fetched by then, is lost.
    ///
    /// The open invitations of this machine are withdrawn, because the removed one may know their codes.
    ///
    /// - Parameters:
    ///   - machine: The ``SyncStatus/Machine/id`` of another machine.
    ///   - withoutFetching: Whether the machine is also removed if this one cannot exchange first, or has not read everything.
    /// - Throws: `itemNotFound` if no other machine has the ID; `missingEntitlement` if this machine is no member that may remove others;
    ///   `unavailable`, `locked`, and errors of ``now(timeout:)``. The message says whether the machine is removed: it is if only the
    ///   removal could not be sent.
    @discardableResult
    public func remove(
        _ machine: SyncStatus.Machine.ID, withoutFetching: Bool = false
    ) async throws(KeychainError) -> SyncReport {
        let others = try await member.status().members.filter { !$0.isThisMachine }
        guard let chosen = others.first(where: { $0.id.hex == machine }) else {
            throw KeychainError(
                .itemNotFound,
                "No other machine of the ring has the ID '\(machine)'. Take one of those that status() has.")
        }
        return SyncReport(try await member.remove([chosen.id], isWithoutFetching: withoutFetching))
    }

    /// Lets a machine stay in the ring that another one has removed, and exchanges.
    ///
    /// If a machine removes another one, and is removed itself by one that does not know of that, the other one is still in the ring. Either
    /// of them may be stolen. Until somebody decides, this machine sends nothing: ``now(timeout:)`` throws `unavailable`, and
    /// ``SyncStatus/notices`` has one of the kind ``SyncNotice/Kind/contested``. To remove the machine after all, use
    /// ``remove(_:withoutFetching:)``.
    ///
    /// Decides for this machine only: each machine that sees this waits for a decision of its own.
    ///
    /// - Parameter machines: The ``SyncStatus/Machine/id`` of all machines that the same removals concern.
    /// - Throws: `itemNotFound` if there is nothing to decide about a machine with one of the IDs; `invalidParameter` if the same removals
    ///   concern more machines, which the message names; `unavailable`, `locked`, and errors of ``now(timeout:)``. After the last ones the
    ///   decision is stored, as the message says.
    @discardableResult
    public func keep(machines: [SyncStatus.Machine.ID]) async throws(KeychainError) -> SyncReport {
        let members = try await member.status().members
        let chosen = try machines.map { (machine) throws(KeychainError) in
            guard let chosen = members.first(where: { $0.id.hex == machine }) else {
                throw KeychainError(
                    .itemNotFound,
                    "No machine of the ring has the ID '\(machine)'. Take one of those that status() has.")
            }
            return chosen.id
        }
        return SyncReport(try await member.keep(chosen))
    }

    /// Sends what was changed here, and ends sync on this machine. All its items stay, here and on the other machines.
    ///
    /// The others count this machine as a member until one of them removes it. Its open invitations are withdrawn.
    ///
    /// - Parameter isGivingUp: Whether changes that are not sent are given up. No other machine will know of them, and what was deleted
    ///   here comes back if this machine joins again.
    /// - Throws: `unavailable` if the vault is in no ring; the error of the exchange, mostly `unavailable`, if something was not sent;
    ///   `locked`; `cancelled`; the vault's errors.
    public func leave(withoutSending isGivingUp: Bool = false) async throws(KeychainError) {
        try await member.leave(withoutSending: isGivingUp)
    }

    private static func check(name: String) throws(KeychainError) {
        let isPrintable = name.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        guard (1...Bounds.name).contains(name.utf8.count), isPrintable else {
            throw KeychainError(
                .invalidParameter, "A machine's name has 1 to 128 bytes and no control characters. Give another one.")
        }
    }
}
