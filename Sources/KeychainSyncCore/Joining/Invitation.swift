// SPDX-License-Identifier: Apache-2.0
// The side of the machine that admits another one.

package import Foundation
package import KeychainCrypto
package import SecretMemory

/// Keys that are derived from the code of an invitation. The code authenticates both sides and encrypts nothing, so
/// breaking it later gains nothing.
struct InvitationKeys: Sendable {
    let id: InvitationID
    let inviter: SecretBytes
    let joiner: SecretBytes

    init(code: SecretBytes) {
        func key(_ purpose: Derivation.RingPurpose) -> SecretBytes {
            Derivation.key(from: code, salt: Data(), purpose)
        }
        id = key(.invitationName).withUnsafeBytes { InvitationID($0) }
        inviter = key(.invitationInviter)
        joiner = key(.invitationJoiner)
    }
}

/// An open invitation. Each use admits one member.
package struct Invitation: Sendable {
    /// The outcome of a request.
    package enum Answer: Sendable {
        /// The entry is `nil` if the member was added before, and an interrupted admission is completed.
        case admitted(MemberCard, entry: RingEntry?, wrap: KeyWrap)
        /// A person has to approve the machine first.
        case waiting(MemberCard)
        /// Many are admitted at once already; the next exchange admits this one.
        case postponed
        case expired
        case usedUp
        case refused(Refusal)
    }

    package let code: SecretBytes
    /// The name of the new machine; with several uses, a part of its identity is appended.
    package let name: String
    package let role: Role
    /// In milliseconds, by the clock of this machine alone.
    package let expires: UInt64
    package private(set) var usesLeft: Int
    /// Whether each machine waits until a person has compared its ID and approved it.
    package let needsApproval: Bool
    private let isShared: Bool
    private let keys: InvitationKeys
    private let nonce: RequestID
    private var admitted: Set<MemberID> = []
    private var approved: Set<MemberID> = []

    package init(
        code: SecretBytes, name: String, role: Role = .device, expires: UInt64, uses: Int = 1,
        needsApproval: Bool = false
    ) {
        self.code = code
        self.name = name
        self.role = role
        self.expires = expires
        usesLeft = uses
        isShared = uses > 1
        self.needsApproval = needsApproval
        keys = InvitationKeys(code: code)
        nonce = .random()
    }

    package var objectName: ObjectName { .invitation(keys.id) }

    /// Whether it admits no more machines.
    package func isOver(at now: UInt64) -> Bool { now >= expires || usesLeft == 0 }

    /// Lets a machine in that waits, when it is answered next.
    package mutating func approve(_ member: MemberID) { approved.insert(member) }

    /// Admits no more machines. The next exchange removes it.
    package mutating func withdraw() { usesLeft = 0 }

    /// Whether a machine that it has let in was removed, which still has the code.
    package func isKnownToRemoved(_ log: RingLog) -> Bool { log.hasRemoved(anyOf: admitted) }

    /// The object on the carrier: the ring, and the entries that the joiner must find in its log.
    package func offer(_ log: RingLog) -> Data {
        InvitationOffer(ring: log.id, tips: log.tips, nonce: nonce).bytes(authenticatedBy: keys.inviter)
    }

    /// Whether a machine that has the code asks by it, under its own name. Anybody can put other objects there, and copies under other
    /// names, in any number.
    package func isRequest(_ name: ObjectName, _ bytes: Data) -> Bool {
        guard case .request(keys.id, let id) = name, let request = try? JoinRequest(bytes, authenticatedBy: keys.joiner)
        else { return false }
        return request.invitation == nonce && RequestID(request.keys.member.bytes) == id
    }

    /// Whether a request, which is one, would let its machine in now if the invitation is still open: it waits for nobody's approval.
    package func letsIn(_ request: Data) -> Bool {
        guard let request = try? JoinRequest(request, authenticatedBy: keys.joiner) else { return false }
        return !isWaiting(request.keys.member)
    }

    private func isWaiting(_ member: MemberID) -> Bool {
        needsApproval && !approved.contains(member) && !admitted.contains(member)
    }

    /// Answers requests. Only what takes time is bounded, so that no request is in the way of another one.
    package mutating func answer(
        _ requests: [Data], at now: UInt64, _ log: inout RingLog, _ keyring: Keyring, author: MemberID,
        signer: DeviceKeys
    ) -> [Answer] {
        var (answers, left) = ([Answer](), Left())
        for request in requests {
            do {
                answers.append(try answer(request, at: now, &log, keyring, author, signer, &left))
            } catch {
                answers.append(.refused(error))
            }
        }
        return answers
    }

    /// How many are still admitted at once. Requests of admitted machines may be shown again for ever, so they are counted apart.
    private struct Left {
        private var new = Bounds.admissions
        private var known = Bounds.admissions

        mutating func take(isNew: Bool) -> Bool {
            let count = isNew ? new : known
            if isNew { new -= 1 } else { known -= 1 }
            return count > 0
        }
    }

    private mutating func answer(
        _ bytes: Data, at now: UInt64, _ log: inout RingLog, _ keyring: Keyring, _ author: MemberID,
        _ signer: DeviceKeys, _ left: inout Left
    ) throws(Refusal) -> Answer {
        let request = try JoinRequest(bytes, authenticatedBy: keys.joiner)
        guard request.ring == log.id else { throw .wrongRing }
        guard request.invitation == nonce else { throw .notAuthentic }
        let member = request.keys.member
        guard now < expires else { return .expired }
        guard admitted.contains(member) || usesLeft > 0 else { return .usedUp }
        let card = MemberCard(role: role, keys: request.keys, name: name(of: member))
        guard !isWaiting(member) else { return .waiting(card) }
        guard left.take(isNew: !admitted.contains(member)) else { return .postponed }
        let (entry, wrap) = try log.admit(card, keyring, author: author, signer: signer)
        if admitted.insert(member).inserted { usesLeft -= 1 }
        return .admitted(card, entry: entry, wrap: wrap)
    }

    // MARK: - Stored form

    private static let format: UInt8 = 1
    /// The approved machines come before those that were admitted. An older version must not admit any other.
    private static let formatWithApproval: UInt8 = 2

    /// - Returns: Bytes to wipe after use: they contain the code.
    package func bytes() -> ByteWriter {
        var writer = ByteWriter(capacity: 256)
        writer.append(needsApproval ? Self.formatWithApproval : Self.format)
        code.withUnsafeBytes { writer.append($0) }
        writer.append(UInt8(clamping: name.utf8.count))
        writer.append(name)
        writer.append(role.rawValue)
        writer.append(bigEndian: expires)
        writer.append(bigEndian: UInt32(clamping: usesLeft))
        writer.append(isShared)
        nonce.write(to: &writer)
        if needsApproval {
            writer.append(bigEndian: UInt32(clamping: approved.count))
            for member in approved.sorted() { member.write(to: &writer) }
        }
        for member in admitted.sorted() { member.write(to: &writer) }
        return writer
    }

    package init(stored bytes: Data) throws(Refusal) {
        var reader = ByteReader(bytes)
        defer { reader.wipe() }
        let format = try reader.byte()
        guard format == Self.format || format == Self.formatWithApproval else { throw .newerFormat }
        needsApproval = format == Self.formatWithApproval
        var code = try reader.bytes(InvitationCode.byteCount)
        defer { code.wipe() }
        self.code = code.withUnsafeBytes { SecretBytes(copying: $0) }
        name = try reader.name()
        guard let role = Role(rawValue: try reader.byte()) else { throw .newerFormat }
        self.role = role
        expires = try reader.number()
        usesLeft = Int(try reader.number(UInt32.self))
        isShared = try reader.flag()
        nonce = try reader.bytes16()
        if needsApproval {
            for _ in 0..<(try reader.number(UInt32.self)) { approved.insert(try reader.bytes16()) }
        }
        while reader.rest > 0 { admitted.insert(try reader.bytes16()) }
        keys = InvitationKeys(code: self.code)
    }

    /// A part of a name that is as long as names may be makes room for the machine's identity.
    private func name(of member: MemberID) -> String {
        guard isShared else { return name }
        let identity = "-\(member.hex.prefix(8))"
        var start = name
        while start.utf8.count + identity.utf8.count > Bounds.name { start.removeLast() }
        return start + identity
    }
}
