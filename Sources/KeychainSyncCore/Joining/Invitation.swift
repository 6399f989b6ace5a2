// SPDX-License-Identifier: Apache-2.0
// The side of the machine that lets another one in.

package import Foundation
package import KeychainCrypto
package import SecretMemory

/// What follows from the code of an invitation. The code authenticates both sides; nothing is encrypted with it, so nobody
/// gains from breaking it later.
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

/// An invitation that is open: it becomes members, one for each use.
package struct Invitation: Sendable {
    /// What became of a request.
    package enum Answer: Sendable {
        /// The entry is `nil` if the member was there already: an interrupted admission is finished.
        case admitted(MemberCard, entry: RingEntry?, wrap: KeyWrap)
        case expired
        case usedUp
        case refused(Refusal)
    }

    package let code: SecretBytes
    /// What the new machine is called; with several uses, part of its identity follows.
    package let name: String
    package let role: Role
    /// In milliseconds, by the clock of this machine: nobody else is asked.
    package let expires: UInt64
    package private(set) var usesLeft: Int
    private let isShared: Bool
    private let keys: InvitationKeys
    private let nonce: RequestID
    private var admitted: Set<MemberID> = []

    package init(code: SecretBytes, name: String, role: Role = .device, expires: UInt64, uses: Int = 1) {
        self.code = code
        self.name = name
        self.role = role
        self.expires = expires
        usesLeft = uses
        isShared = uses > 1
        keys = InvitationKeys(code: code)
        nonce = .random()
    }

    package var objectName: ObjectName { .invitation(keys.id) }

    /// Whether it lets nobody in any more.
    package func isOver(at now: UInt64) -> Bool { now >= expires || usesLeft == 0 }

    /// What lies on the carrier: the ring, and the entries that the joiner must find in its log.
    package func offer(_ log: RingLog) -> Data {
        InvitationOffer(ring: log.id, tips: log.tips, nonce: nonce).bytes(authenticatedBy: keys.inviter)
    }

    /// Answers requests. At most as many as the bound are looked at.
    package mutating func answer(
        _ requests: [Data], at now: UInt64, _ log: inout RingLog, _ keyring: Keyring, author: MemberID,
        signer: DeviceKeys
    ) -> [Answer] {
        var answers: [Answer] = []
        for request in requests.prefix(Bounds.requests) {
            do {
                answers.append(try answer(request, at: now, &log, keyring, author, signer))
            } catch {
                answers.append(.refused(error))
            }
        }
        return answers
    }

    private mutating func answer(
        _ bytes: Data, at now: UInt64, _ log: inout RingLog, _ keyring: Keyring, _ author: MemberID,
        _ signer: DeviceKeys
    ) throws(Refusal) -> Answer {
        let request = try JoinRequest(bytes, authenticatedBy: keys.joiner)
        guard request.ring == log.id else { throw .wrongRing }
        guard request.invitation == nonce else { throw .notAuthentic }
        let member = request.keys.member
        guard now < expires else { return .expired }
        guard admitted.contains(member) || usesLeft > 0 else { return .usedUp }
        let card = MemberCard(role: role, keys: request.keys, name: name(of: member))
        let (entry, wrap) = try log.admit(card, keyring, author: author, signer: signer)
        if admitted.insert(member).inserted { usesLeft -= 1 }
        return .admitted(card, entry: entry, wrap: wrap)
    }

    // MARK: - Stored form

    private static let format: UInt8 = 1

    /// - Returns: Bytes to wipe after use: they contain the code.
    package func bytes() -> ByteWriter {
        var writer = ByteWriter(capacity: 256)
        writer.append(Self.format)
        code.withUnsafeBytes { writer.append($0) }
        writer.append(UInt8(clamping: name.utf8.count))
        writer.append(name)
        writer.append(role.rawValue)
        writer.append(bigEndian: expires)
        writer.append(bigEndian: UInt32(clamping: usesLeft))
        writer.append(isShared)
        nonce.write(to: &writer)
        for member in admitted.sorted() { member.write(to: &writer) }
        return writer
    }

    package init(stored bytes: Data) throws(Refusal) {
        var reader = ByteReader(bytes)
        guard try reader.byte() == Self.format else { throw .newerFormat }
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
        while reader.rest > 0 { admitted.insert(try reader.bytes16()) }
        keys = InvitationKeys(code: self.code)
    }

    private func name(of member: MemberID) -> String { isShared ? "\(name)-\(member.hex.prefix(8))" : name }
}
