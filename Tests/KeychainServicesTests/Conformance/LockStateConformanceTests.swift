// SPDX-License-Identifier: Apache-2.0
// Conformance cases C89–C97 and the matrix of classes, lock states and operations (rules 8.7).

import Foundation
import KeychainEngine
import KeychainServices
import Testing

/// The five operations of the matrix.
enum MatrixOperation: String, CaseIterable, Sendable {
    case add, findAttributes, findData, update, delete

    /// - Parameter entries: Selects the one item, or adds its like.
    func status(_ services: Services, _ entries: Entries) -> OSStatus {
        switch self {
        case .add: services.add(entries.adding(["acct": "another", "v_Data": secret])).status
        case .findAttributes: services.find(entries.without("pdmn").adding(["r_Attributes": true])).status
        case .findData: services.find(entries.without("pdmn").adding(["r_Data": true])).status
        case .update: services.update(entries.without("pdmn"), to: ["v_Data": otherSecret])
        case .delete: services.delete(entries.without("pdmn"))
        }
    }
}

@Suite("Conformance: lock state")
struct LockStateConformanceTests {
    /// What Apple answers while the class is closed; everything is allowed while it is open.
    static func expected(
        _ accessibility: Accessibility, _ state: LockState, _ operation: MatrixOperation
    ) -> OSStatus {
        let isOpen =
            switch accessibility.rawValue {
            case "ak", "aku", "akpu": state == .unlocked
            case "ck", "cku": state != .beforeFirstUnlock
            default: true
            }
        return isOpen || operation == .delete ? errSecSuccess : errSecInteractionNotAllowed
    }

    @Test(arguments: LockableKind.allCases, Accessibility.allCases)
    func operation_inALockState_isAllowedOrRefusedAsOnApplesDevices(
        kind: LockableKind, accessibility: Accessibility
    ) throws {
        let keychain = try kind.keychain()
        let item = genp(["svce": "matrix", "acct": "one", "pdmn": accessibility.rawValue])
        for state in LockState.allCases {
            for operation in MatrixOperation.allCases {
                try keychain.enter(.unlocked)
                _ = keychain.services.delete(genp(["svce": "matrix"]))
                try #require(keychain.services.add(item.adding(["v_Data": secret])).status == errSecSuccess)
                try keychain.enter(state)
                let status = operation.status(keychain.services, item)
                #expect(status == Self.expected(accessibility, state, operation), "\(state) \(operation)")
            }
        }
    }

    @Test(arguments: LockableKind.allCases)
    func itemThatIsNotThere_whileLocked_isNotFound(kind: LockableKind) throws {
        let keychain = try kind.keychain()
        keychain.services.add(genp(["svce": "there", "v_Data": secret]))
        for state in LockState.allCases {
            try keychain.enter(state)
            #expect(keychain.services.find(genp(["svce": "elsewhere"])).status == errSecItemNotFound, "\(state)")
            #expect(keychain.services.delete(genp(["svce": "elsewhere"])) == errSecItemNotFound, "\(state)")
        }
    }

    @Test(arguments: LockableKind.allCases)
    func addition_whileLocked_isRefusedAndStoresNothing(kind: LockableKind) throws {
        let keychain = try kind.keychain()
        try keychain.enter(.locked)
        #expect(keychain.services.add(inet(["v_Data": secret])).status == errSecInteractionNotAllowed)
        try keychain.enter(.unlocked)
        #expect(keychain.services.count(inet()) == 0)
    }

    @Test(arguments: LockableKind.allCases)
    func duplicate_addedWhileLocked_isInteractionNotAllowed(kind: LockableKind) throws {
        let keychain = try kind.keychain()
        keychain.services.add(genp(["v_Data": secret]))
        try keychain.enter(.locked)
        #expect(keychain.services.add(genp(["v_Data": secret])).status == errSecInteractionNotAllowed)
    }

    /// The class of the addition is open, and the key is taken by an item that is not.
    @Test(arguments: LockableKind.allCases)
    func keyOfALockedItem_addedInAnOpenClass_isADuplicateAndLeavesTheItem(kind: LockableKind) throws {
        let keychain = try kind.keychain()
        keychain.services.add(genp(["acct": "a", "v_Data": secret]))
        try keychain.enter(.locked)
        #expect(
            keychain.services.add(genp(["acct": "a", "pdmn": "ck", "v_Data": otherSecret])).status
                == errSecDuplicateItem)
        try keychain.enter(.unlocked)
        #expect(keychain.services.find(genp(["acct": "a", "r_Data": true])).data == secret)
    }

    @Test(arguments: LockableKind.allCases)
    func item_lockedAndUnlocked_isReadAgain(kind: LockableKind) throws {
        let keychain = try kind.keychain()
        keychain.services.add(genp(["v_Data": secret]))
        try keychain.enter(.locked)
        #expect(keychain.services.find(genp(["r_Data": true])).status == errSecInteractionNotAllowed)
        try keychain.enter(.unlocked)
        #expect(keychain.services.find(genp(["r_Data": true])).data == secret)
    }

    @Test(arguments: LockableKind.allCases)
    func addition_afterLockingBetweenTwo_isRefusedAndTheFirstStays(kind: LockableKind) throws {
        let keychain = try kind.keychain()
        keychain.services.add(genp(["acct": "first", "v_Data": secret]))
        try keychain.enter(.locked)
        #expect(
            keychain.services.add(genp(["acct": "second", "v_Data": secret])).status == errSecInteractionNotAllowed)
        try keychain.enter(.unlocked)
        #expect(keychain.services.find(genp(["acct": "first", "r_Data": true])).data == secret)
        #expect(keychain.services.find(genp(["acct": "second"])).status == errSecItemNotFound)
    }

    @Test(arguments: LockableKind.allCases)
    func flagsZeroItem_whileLocked_isInteractionNotAllowedAndThenRead(kind: LockableKind) throws {
        let keychain = try kind.keychain()
        let control = try #require(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, [], nil))
        keychain.services.add(genp(["accc": control, "v_Data": secret]))
        let query = genp(["r_Attributes": true, "r_Data": true])
        try keychain.enter(.locked)
        #expect(keychain.services.find(query).status == errSecInteractionNotAllowed)
        try keychain.enter(.unlocked)
        #expect(keychain.services.find(query).status == errSecSuccess)
    }

    @Test(arguments: LockableKind.allCases)
    func searchForAll_overOpenAndClosedItems_failsAsAWhole(kind: LockableKind) throws {
        let keychain = try kind.keychain()
        keychain.services.add(genp(["svce": "s", "acct": "closed", "pdmn": "ak"]))
        keychain.services.add(genp(["svce": "s", "acct": "open", "pdmn": "ck"]))
        try keychain.enter(.locked)
        let all = genp(["svce": "s", "r_Attributes": true, "m_Limit": "m_LimitAll"])
        #expect(keychain.services.find(all).status == errSecInteractionNotAllowed)
        #expect(keychain.services.find(genp(["svce": "s", "acct": "open"])).status == errSecSuccess)
    }

    @Test(arguments: LockableKind.allCases)
    func update_overOpenAndClosedItems_changesNeither(kind: LockableKind) throws {
        let keychain = try kind.keychain()
        keychain.services.add(genp(["svce": "s", "acct": "closed", "pdmn": "ak", "v_Data": secret]))
        keychain.services.add(genp(["svce": "s", "acct": "open", "pdmn": "ck", "v_Data": secret]))
        try keychain.enter(.locked)
        #expect(
            keychain.services.update(genp(["svce": "s"]), to: ["v_Data": otherSecret]) == errSecInteractionNotAllowed)
        #expect(keychain.services.find(genp(["acct": "open", "r_Data": true])).data == secret)
    }

    @Test(arguments: LockableKind.allCases)
    func deletion_whileLocked_takesOnlyWhatIsMeant(kind: LockableKind) throws {
        let keychain = try kind.keychain()
        for (account, group) in [("a", "test"), ("b", "test"), ("a", "test2")] {
            keychain.services.add(genp(["svce": "s", "acct": account, "agrp": group]))
        }
        try keychain.enter(.beforeFirstUnlock)
        #expect(keychain.services.delete(genp(["svce": "s", "acct": "a", "agrp": "test"])) == errSecSuccess)
        try keychain.enter(.unlocked)
        #expect(keychain.services.count(genp(["agrp": "test"])) == 1)
        #expect(keychain.services.count(genp(["agrp": "test2"])) == 1)
    }

    @Test(arguments: LockableKind.allCases)
    func deletion_whileLockedOfAnotherProgramsItem_leavesIt(kind: LockableKind) throws {
        let keychain = try kind.keychain()
        keychain.services.add(genp(["svce": "s", "acct": "a"]))
        try keychain.enter(.locked)
        #expect(keychain.services.with(groups: ["other"]).delete(genp(["svce": "s"])) != errSecSuccess)
        try keychain.enter(.unlocked)
        #expect(keychain.services.count(genp(["svce": "s"])) == 1)
    }

    @Test(arguments: LockableKind.allCases)
    func synchronizableItem_whileLocked_isNotDeletedByAnOrdinaryDeletion(kind: LockableKind) throws {
        let keychain = try kind.keychain()
        keychain.services.add(genp(["svce": "s", "acct": "a", "sync": true]))
        try keychain.enter(.locked)
        #expect(keychain.services.delete(genp(["svce": "s", "acct": "a"])) == errSecItemNotFound)
        #expect(keychain.services.delete(genp(["svce": "s", "acct": "a", "sync": true])) == errSecSuccess)
    }

    @Test(arguments: LockableKind.allCases)
    func persistentReference_whileLocked_deletesAndDoesNotRead(kind: LockableKind) throws {
        let keychain = try kind.keychain()
        let reference = try #require(keychain.services.add(genp(["v_Data": secret, "r_PersistentRef": true])).data)
        try keychain.enter(.locked)
        #expect(keychain.services.find(["v_PersistentRef": reference]).status == errSecInteractionNotAllowed)
        #expect(keychain.services.delete(["v_PersistentRef": reference]) == errSecSuccess)
    }
}
