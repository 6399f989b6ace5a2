// SPDX-License-Identifier: Apache-2.0
// The kinds of findings, and which of them stay.

import KeychainSyncCore

/// The kinds. Programs know them by these names, so none is ever renamed.
enum NoticeKind: String, CaseIterable {
    case rolledBack, withheld, silent, copied, shownAfterRefusal, different, clockAhead, tooLarge, notSent, notShown
    case refused, contested
}

extension Finding {
    var kind: NoticeKind {
        switch self {
        case .logWentBack, .entriesMissing, .snapshotMissing, .revisionWentBack, .headWentBack: .rolledBack
        case .withheld, .stalled, .entryWithheld, .keysMissing, .unread: .withheld
        case .silent, .viewIsOld: .silent
        case .equivocation, .startedAgain: .copied
        case .contested: .contested
        case .shownAfterRefusal: .shownAfterRefusal
        case .differentState: .different
        case .clockAhead: .clockAhead
        case .tooLargeToShare: .tooLarge
        case .notSent: .notSent
        case .placeTaken, .notUnderstood, .notOpened: .notShown
        case .refused: .refused
        }
    }

    /// What it is about. Of two findings with the same kind and subject, the later one holds.
    var subject: String {
        switch self {
        case .logWentBack(let writer, _, _): "log \(writer.hex)"
        case .entriesMissing: "entries"
        case .snapshotMissing(let id): "snapshot \(id.hex)"
        case .revisionWentBack: "revision"
        case .withheld(let writer, _): writer.hex
        case .stalled(let writer, _): "log \(writer.hex)"
        case .entryWithheld: "entry"
        case .keysMissing: "keys"
        case .unread: "unread"
        case .silent(let member, _): member.hex
        case .viewIsOld: "all"
        case .headWentBack(let member, _, _): "head \(member.hex)"
        case .equivocation(let member, _): member.hex
        case .startedAgain: "this"
        case .contested(let target, let author): "\(author.id.hex) \(target.id.hex)"
        case .shownAfterRefusal(let name): name.text
        case .differentState(let member): member.hex
        case .clockAhead(let member, _): member.hex
        case .tooLargeToShare(let item): item
        case .notSent: ""
        case .placeTaken(let item), .notUnderstood(let item): item.hex
        case .notOpened(let item, _): item.hex
        case .refused(let name, let refusal): "\(name.text) \(refusal)"
        }
    }

    /// Whether it tells of two machines that are one of certain members.
    func isOfCopy(where isMeant: (MemberID) -> Bool) -> Bool {
        if case .equivocation(let member, _) = self { isMeant(member) } else { false }
    }

    /// Whether the user has to decide what to do. Such a thing may be found only once, although it is not over: the machines write
    /// again what was missing, and a head is compared when it comes. All others are found by each exchange until they are over.
    var stays: Bool {
        switch self {
        case .logWentBack, .entriesMissing, .snapshotMissing, .revisionWentBack, .headWentBack, .equivocation,
            .contested, .shownAfterRefusal, .differentState, .clockAhead:
            true
        case .withheld, .stalled, .entryWithheld, .keysMissing, .unread, .silent, .viewIsOld, .startedAgain,
            .tooLargeToShare, .notSent, .placeTaken, .notUnderstood, .notOpened, .refused:
            false
        }
    }
}
