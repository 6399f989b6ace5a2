// SPDX-License-Identifier: Apache-2.0
// The texts of findings.

import KeychainCrypto
package import KeychainSyncCore
package import SecretMemory

extension Finding {
    /// What happened, to what, and what to do next.
    package func text(_ names: MachineNames = MachineNames()) -> String {
        switch self {
        case .logWentBack(let writer, let known, let shown):
            "The shared storage shows an older state of \(names.text(writer)): \(shown) of \(known) segments. A backup may have been restored. "
                + "The machines that have the missing segments write them again."
        case .entriesMissing(1):
            "An entry about the ring's members is gone from the shared storage. It is written again."
        case .entriesMissing(let count):
            "\(count) entries about the ring's members are gone from the shared storage. They are written again."
        case .snapshotMissing(let id):
            "The snapshot \(id.hex) is gone from the shared storage. A new one is written."
        case .revisionWentBack(let known, let shown):
            "The revision of etcd went back from \(known) to \(shown): it was restored from a backup, or is another one. The machines write "
                + "again what is missing. This is said until the revision is \(known) again, or you run: keychainctl sync dismiss"
        case .withheld(let writer, let counter):
            "Change \(counter) of \(names.text(writer)) is known to another machine, but has not arrived here. If it stays missing, check "
                + "whether the shared storage is complete."
        case .stalled(let writer, let number):
            "Changes of \(names.text(writer)) from segment \(number) on have arrived in part and are not applied: another segment of them, a part "
                + "of a snapshot, or an entry of the ring's log that they follow, is missing. If it stays missing, check whether the shared storage is complete."
        case .entryWithheld:
            "An entry of the ring's log has not arrived here, although what follows it has: new keys or machines of the ring, and what they "
                + "have changed since, are not known here. If it stays missing, check whether the shared storage is complete."
        case .keysMissing:
            "A key of the ring has not arrived here: what the others have sealed with it is not shown, and changes of this machine wait. "
                + "On another machine, run: keychainctl sync now; then here again. If it was lost, another machine that may write sends it "
                + "again in its first exchange that is ten minutes or more after it has noticed the loss. If none has it any more, make new "
                + "keys by removing those that are gone: keychainctl sync remove"
        case .unread:
            "The exchange has ended before everything in the shared storage was read: there is more than one exchange reads, or something "
                + "new each time. What was read is kept, and the next exchange continues. To continue now, run: keychainctl sync now. If it "
                + "says this each time, check who writes to the shared storage."
        case .silent(let member, _):
            "The machine \(names.text(member)) has sent nothing for a week. If it is not in use any more, remove it from the ring."
        case .viewIsOld:
            "No other machine has sent anything for hours. Compare the codes of 'keychainctl sync status' on two machines."
        case .headWentBack(let member, _, _):
            "The machine \(names.text(member)) shows an older state than before. The machine or the shared storage was restored from a backup. "
                + "This is said until it has synced again. If it is not in use any more, run: keychainctl sync remove \(member.hex.prefix(8))"
        case .equivocation(let member, _):
            "There are two of the machine \(names.text(member)): it was copied, or its keys were stolen. If it makes confirmed changes, first run "
                + "there: keychainctl sync now. It says if etcd shows changes that it had refused. Otherwise, on both, one after the other, run: "
                + "keychainctl sync leave; then let it join again: all its items stay, and reach the others. Then remove the former "
                + "machine from the ring. If you know of no copy, do so at once."
        case .contested(let target, let author):
            (author.id == target.id
                ? "The machine '\(target.name)' (\(target.id.hex)) was removed from the ring, or has come through one that was, and is in the ring "
                    + "all the same: the removal was undone. "
                : "The machine '\(author.name)' (\(author.id.hex)) has removed '\(target.name)' (\(target.id.hex)) from the ring, or the machine that has "
                    + "added it. Another machine that did not know of that has undone it. ")
                + "This machine sends nothing until you decide. If '\(target.name)' is lost or stolen, or you do not know it, run: keychainctl sync "
                + "remove \(target.id.hex.prefix(8)). If it is not, run on each machine: keychainctl sync keep \(target.id.hex.prefix(8))"
        case .shownAfterRefusal(let name):
            "The shared storage shows '\(name.text)', a confirmed change of this machine that etcd had refused or not answered. Do not rely on "
                + "confirmed changes over this etcd before you know who controls it. Other machines may say that this one was copied: this is "
                + "the reason. Compare the codes of 'keychainctl sync status' on two machines."
        case .differentState(let member):
            "The machine \(names.text(member)) has the same changes as this one but other items: a machine was restored from an image of its disk, or "
                + "copied, and others have followed it in different ways. On one of the two, run: keychainctl sync leave; then let it join again: "
                + "all its items stay, and reach the others. Then remove the former machine from the ring."
        case .startedAgain:
            "This machine continues under a new identity, since it was restored from a backup or copied, or 'keychainctl sync repair' was run. "
                + "Nothing is lost."
        case .clockAhead(let member, let milliseconds):
            "The clock of \(names.text(member)) is \(milliseconds / 3_600_000) hours ahead, or was. Its changes win over concurrent ones. Set its clock, "
                + "then run there: keychainctl sync repair"
        case .tooLargeToShare(let item):
            (item.isEmpty ? "An item without a name" : "The item \(item)")
                + " is larger than 16 MiB and is not shared. It stays on this machine as it is, whatever others write."
        case .notSent(let changes):
            "Changes of this machine that stay here, because it only reads in its ring: \(changes). Make them on a machine that may "
                + "write. What was changed here keeps its value, whatever the others write."
        case .placeTaken(let item):
            "An item of this machine that is not shared has the name of a shared one (\(item.hex)), which is therefore not shown here."
        case .notUnderstood(let item):
            "An item from another machine (\(item.hex)) is not shown here: a newer version has written it, or it is none that may be "
                + "shared. Update this machine."
        case .notOpened(let item, let refusal):
            "An item from another machine (\(item.hex)) is not shown here: \(refusal.text)."
        case .refused(let name, let refusal):
            "'\(name.text)' in the shared storage is not used: \(refusal.text)."
                + (name.machine(names).map { " It lies in the log of \($0)." } ?? "")
        }
    }
}

extension ObjectName {
    fileprivate func machine(_ names: MachineNames) -> String? {
        if case .segment(let writer, _) = self { names.machine(of: writer) } else { nil }
    }
}

extension Refusal {
    fileprivate var text: String {
        switch self {
        case .tooLarge: "it is too large"
        case .malformed: "it is damaged or of another kind"
        case .newerFormat: "it was written by a newer version; update this machine"
        case .noKey: "this machine does not have its key"
        case .notAuthentic: "it was changed, or sealed with another key"
        case .badSignature: "its signature is not valid"
        case .notAMember: "its author is not a member with write permission"
        case .wrongName: "it has the name of another object"
        case .wrongRing: "it belongs to another ring"
        case .contradiction: "it contradicts what its author wrote before"
        case .afterRemoval: "its author was removed from the ring"
        }
    }
}

extension RingMember {
    /// The code of an invitation in its text form.
    package static func text(of code: SecretBytes) -> SecretBytes { InvitationCode.text(code) }

    /// - Returns: `nil` if the text is mistyped.
    package static func code(from text: SecretBytes) -> SecretBytes? { InvitationCode.read(text) }
}
