// SPDX-License-Identifier: Apache-2.0
// What a person is told of a carrier, of other machines, and of this one.

import KeychainCrypto
package import KeychainSyncCore
package import SecretMemory

extension Finding {
    /// What happened, to what, and what to do next.
    package var text: String {
        switch self {
        case .logWentBack(let writer, let known, let shown):
            "The shared folder shows an older state of \(writer.hex): \(shown) of \(known) segments. Perhaps a backup was put back. "
                + "What is missing is put back by the machines that have it."
        case .entriesMissing(let count):
            "\(count) entries about the ring's members are gone from the shared folder. They are put back."
        case .snapshotMissing(let id):
            "The snapshot \(id.hex) is gone from the shared folder. Another one is made."
        case .revisionWentBack(let known, let shown):
            "The carrier counts from \(shown) again, and was at \(known): it was restored from a backup."
        case .withheld(let writer, let counter):
            "Another machine has seen change \(counter) of \(writer.hex), which has not arrived here. If it does not come, look "
                + "whether the folder is carried completely."
        case .silent(let member, _):
            "Nothing has come from the machine \(member.hex) for a week. If it is gone for good, remove it from the ring."
        case .viewIsOld:
            "Nothing has come from any other machine for hours. Compare the codes of 'keychainctl sync status' on two machines."
        case .headWentBack(let member, _, _):
            "The machine \(member.hex) says less than it said before: it was restored from a backup, or the folder was."
        case .equivocation(let member, _):
            "The machine \(member.hex) says two different things at once: it was copied, or its keys were stolen. Remove it from "
                + "the ring, and let it join again."
        case .differentState(let member):
            "The machine \(member.hex) has seen the same changes and has other items. Please report this; on both machines, run: "
                + "keychainctl doctor"
        case .startedAgain:
            "This machine was restored from a backup, or has a copy: it goes on under a new identity, and loses nothing."
        case .clockAhead(let member, let milliseconds):
            "The clock of \(member.hex) is \(milliseconds / 3_600_000) hours ahead. Its changes win over concurrent ones."
        case .tooLargeToShare:
            "An item is larger than 16 MiB and stays on this machine."
        case .placeTaken(let item):
            "An item of this machine that is not shared has the name of a shared one (\(item.hex)), which is therefore not shown here."
        case .notUnderstood(let item):
            "An item from another machine (\(item.hex)) is not shown here: a newer version has written it, or it is none that may be "
                + "shared. Update this machine."
        case .refused(let name, let refusal):
            "'\(name.text)' in the shared folder is not used: \(refusal.text)."
        }
    }
}

extension Refusal {
    fileprivate var text: String {
        switch self {
        case .tooLarge: "it is too large"
        case .malformed: "it is damaged or of another kind"
        case .newerFormat: "a newer version has written it; update this machine"
        case .noKey: "the key for it is not here"
        case .notAuthentic: "it was changed, or sealed with another key"
        case .badSignature: "its signature does not hold"
        case .notAMember: "its author is no member that may write"
        case .wrongName: "it lies under a name that is not its own"
        case .wrongRing: "it is of another ring"
        case .contradiction: "it contradicts what its author wrote before"
        case .afterRemoval: "its author was removed from the ring"
        }
    }
}

extension RingMember {
    /// The code of an invitation as it is typed.
    package static func text(of code: SecretBytes) -> SecretBytes { InvitationCode.text(code) }

    /// - Returns: `nil` if it is mistyped.
    package static func code(from text: SecretBytes) -> SecretBytes? { InvitationCode.read(text) }
}
