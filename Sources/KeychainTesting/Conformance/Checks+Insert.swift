// SPDX-License-Identifier: Apache-2.0
// Checks: adding items, and the parts of the primary key.

import Foundation
import KeychainEngine

extension StoreConformance {
    static let inserting: [Check] = [
        Check("emptyStore_searched_findsNothing") { trial in
            try trial.expectEqual(try trial.select().count, 0, "number of items found")
        },
        Check("item_inserted_isFoundAsItWasReturned") { trial in
            let inserted = try trial.insert(trial.item())
            let found = try trial.only()
            try trial.expectEqual(found.id.uuidString, inserted.id.uuidString, "identity")
            try trial.expectEqual(found.version, inserted.version, "version")
            try trial.expect(found.item.attributes == inserted.item.attributes, "the attributes that were returned")
        },
        Check("item_inserted_keepsItsAttributesAndAccessControl") { trial in
            let item = trial.item(value: .sample, .afterFirstUnlock).with(.label, .string("a label"))
            try trial.insert(item)
            let found = try trial.only().item
            try trial.expect(found.content == item.content, "the attributes that were given")
            try trial.expect(found.accessControl == item.accessControl, "the access control that was given")
        },
        Check("itemOfEachClass_inserted_isFoundInItsClass") { trial in
            for itemClass in ItemClass.allCases { try trial.insert(trial.item("alice", itemClass)) }
            for itemClass in ItemClass.allCases {
                let found = try trial.only(.all(of: itemClass))
                try trial.expectEqual(found.item.itemClass.rawValue, itemClass.rawValue, "class")
            }
        },
        Check("items_inserted_haveIdentitiesOfTheirOwn") { trial in
            let first = try trial.insert(trial.item("alice"))
            let second = try trial.insert(trial.item("bob"))
            try trial.expect(first.id != second.id, "two identities", came: "one")
        },
        Check("reference_ofAnInsertedItem_findsIt") { trial in
            let inserted = try trial.insert(trial.item("alice"))
            try trial.insert(trial.item("bob"))
            try trial.expectEqual(try trial.only(.reference(inserted)).item.account, "alice", "account")
        },
        Check("item_insertedAgainAfterItsDeletion_hasAnotherIdentity") { trial in
            let first = try trial.insert(trial.item())
            _ = try trial.store.delete(.all)
            let second = try trial.insert(trial.item())
            try trial.expect(first.id != second.id, "another identity", came: "the same")
            try trial.expectEqual(try trial.select(.reference(first)).count, 0, "items found by the old reference")
        },
    ]

    static let keys: [Check] = [
        Check("item_insertedTwice_isADuplicate") { trial in
            try trial.insert(trial.item())
            try trial.expect(.duplicateItem, of: "a second insertion") { () throws(KeychainError) in
                try trial.insert(trial.item())
            }
        },
        Check("duplicate_refused_leavesTheItemAsItWas") { trial in
            let first = try trial.insert(trial.item())
            try trial.expect(.duplicateItem, of: "a second insertion") { () throws(KeychainError) in
                try trial.insert(trial.item(value: .other).with(.label, .string("other")))
            }
            let found = try trial.only()
            try trial.expect(found.item.value == .sample, "the value that was there before")
            try trial.expect(found.item.attributes == first.item.attributes, "the attributes that were there before")
            try trial.expect(found.id == first.id && found.version == first.version, "the same identity and version")
        },
        Check("items_thatDifferInOnePartOfTheirPrimaryKey_areTwo") { trial in
            for itemClass in ItemClass.allCases { try trial.checkKeyParts(of: itemClass) }
        },
        Check("items_thatDifferInOtherAttributes_areDuplicates") { trial in
            try trial.insert(trial.item())
            let others: [Item] = [
                trial.item().with(.label, .string("other")), trial.item().with(.generic, .data(.other)),
                trial.item().with(.comment, .string("other")), trial.item(value: .other),
                trial.item("alice", value: .sample, .always),
            ]
            for other in others {
                try trial.expect(.duplicateItem, of: "an insertion with the same primary key") {
                    () throws(KeychainError) in try trial.insert(other)
                }
            }
        },
        Check("names_ofEqualBytesAndOtherTypes_areDuplicates") { trial in
            try trial.insert(trial.item("alice"))
            try trial.expect(.duplicateItem, of: "an account of the same bytes as data") { () throws(KeychainError) in
                try trial.insert(trial.item().with(.account, .data(Data("alice".utf8))))
            }
        },
        Check("names_thatDifferInNormalisation_areTwo") { trial in
            try trial.insert(trial.item("caf\u{E9}"))
            try trial.insert(trial.item("cafe\u{301}"))
            for (name, other) in [("caf\u{E9}", "cafe\u{301}"), ("cafe\u{301}", "caf\u{E9}")] {
                let found = try trial.only(.account(name)).item.account
                try trial.expect(found.utf8.elementsEqual(name.utf8), "the spelling asked for", came: "another")
                try trial.expect(!found.utf8.elementsEqual(other.utf8), "not the other spelling")
            }
        },
    ]
}

extension Trial {
    /// Two items that differ in any part of the primary key that a program may set are different items.
    fileprivate func checkKeyParts(of itemClass: ItemClass) throws {
        let plain = item("alice", itemClass)
        try insert(plain)
        // These belong to smart cards and to family sharing. Most stores refuse them.
        let special: Set<Attribute> = [.tokenID, .sharingGroup, .viewHint]
        let parts = itemClass.schema.primaryKey.filter { !special.contains($0.attribute) }
        for part in parts { try insert(plain.with(part.attribute, otherValue(part))) }
        try expectEqual(
            try select(.all(of: itemClass)).count, parts.count + 1, "items of class '\(itemClass.rawValue)'")
    }

    private func otherValue(_ part: Schema.Rule) -> AttributeValue {
        if part.attribute == .accessGroup { return .string(subject.groups[1]) }
        switch part.kind {
        case .blob, .string: return .string("other")
        case .data, .digest, .uuid: return .data(.other)
        case .number: return .number(1)
        case .date: return .date(1)
        }
    }
}
