// SPDX-License-Identifier: Apache-2.0
// The checks find what is wrong with stores that are wrong.

import KeychainEngine
import KeychainTesting
import Testing

@Suite("Broken stores")
struct NegativeTests {
    /// Which check has to find each defect; others may as well.
    static let table: [(defect: BrokenStore.Defect, check: String)] = [
        (.duplicates, "item_insertedTwice_isADuplicate"),
        (.duplicatesReplace, "duplicate_refused_leavesTheItemAsItWas"),
        (.deletesAndAdds, "item_updated_keepsItsIdentity"),
        (.losesUpdates, "update_ofTheValue_leavesTheAttributes"),
        (.keepsVersion, "item_updated_hasAnotherVersionAndDigest"),
        (.keepsDigest, "update_ofAVersionThatIsPast_changesNothing"),
        (.ignoresGroups, "group_searched_findsItsItemsOnly"),
        (.ignoresGroups, "group_updated_leavesTheOthers"),
        (.ignoresGroups, "group_emptied_leavesTheOthers"),
        (.returnsValues, "values_notAskedFor_areLeftOut"),
        (.losesValues, "value_ofAnyKind_isReadAsItWasInserted"),
        (.emptyIsNone, "value_ofAnyKind_isReadAsItWasInserted"),
        (.truncates, "value_ofAnyKind_isReadAsItWasInserted"),
        (.ignoresLimit, "limit_belowTheNumberOfItems_isHeld"),
        (.ignoresOrder, "items_insertedInAnyOrder_areListedByTheirPrimaryKey"),
        (.ignoresOrder, "internetPasswords_insertedInAnyOrder_areListedByTheirPrimaryKey"),
        (.lockedIsAbsent, "lockedItem_searchedForWithoutItsValue_isLockedAndNotAbsent"),
        (.lockedIsEmptyUpdate, "update_overOpenAndLockedItems_isLockedAndChangesNone"),
        (.halfUpdates, "update_thatFailsForOneItem_changesNone"),
        (.halfUpdates, "change_thatThrows_changesNothingAndIsThrown"),
        (.swallowsThrownChange, "change_thatThrows_changesNothingAndIsThrown"),
        (.normalises, "names_thatDifferInNormalisation_areTwo"),
        (.ignoresConditions, "conditions_given_allHold"),
        (.ignoresConditions, "conditions_inADeletion_allHold"),
        (.ignoresHost, "host_asked_findsItselfAndWhatLiesBelow"),
        (.bytesOfTypesDiffer, "blob_ofEqualBytes_matchesInAnyType"),
        (.deletesOne, "delete_ofSeveralItems_countsThem"),
        (.countsWrong, "delete_withoutAMatch_countsNone"),
        (.ignoresReference, "reference_inADeletion_removesThatItemOnly"),
        (.losesLabel, "item_inserted_keepsItsAttributesAndAccessControl"),
        (.showsProtected, "protectedItem_whenNobodyMayBeAsked_isNotShown"),
        (.skipsNothing, "protectedItems_skipped_areLeftOut"),
        (.transactionsStay, "transaction_thatThrows_hasDoneNothing"),
        (.transactionsSeeNothing, "transaction_reading_seesItsOwnWrites"),
        (.saysUnsupported, "transaction_whereThereAreNone_isUnsupportedAndRunsNothing"),
        (.tellsNobody, "observer_registered_isCalledAfterEachKindOfChange"),
        (.tellsForEver, "observer_whoseObservationIsGone_isNotCalled"),
        (.missesUpdates, "differences_fromAnEarlierLook_areWhatHasChanged"),
        (.missesRemovals, "differences_fromAnEarlierLook_areWhatHasChanged"),
        (.missesRenamed, "differences_fromAnEarlierLook_areWhatHasChanged"),
        (.readsAndWritesApart, "increments_fromSeveralThreads_loseNothing"),
    ]

    @Test(arguments: table)
    func store_withADefect_isFound(_ defect: BrokenStore.Defect, _ name: String) throws {
        let check = try #require(StoreConformance.checks.first { $0.name == name })
        let store = BrokenStore(defect)
        var subject = StoreUnderTest(store)
        subject.setLockState = { store.base.lockState = $0 }
        subject.patience = .seconds(defect == .tellsNobody ? 0 : 60)
        let failure = #expect(throws: ConformanceFailure.self) { try check.run(on: subject) }
        #expect(failure?.check == name)
    }

    @Test func defects_listed_areAllInTheTable() {
        #expect(Set(Self.table.map(\.defect)) == Set(BrokenStore.Defect.allCases))
    }
}
