// SPDX-License-Identifier: Apache-2.0
// The store of a process that named none.

public import Foundation
public import KeychainEngine

extension Vault {
    /// The vault that the environment names, or in its place a store that answers every call with why there is none.
    ///
    /// A missing `HOME` must not end the host program, and must not make secrets go somewhere else either.
    public static func ofEnvironment(
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> any ItemStore {
        do throws(KeychainFailure) {
            return Vault.at(try .fromEnvironment(environment), try .fromEnvironment(environment))
        } catch {
            return UnavailableStore(failure: error)
        }
    }
}

/// A store that can do nothing, and says why.
struct UnavailableStore: ItemStore {
    let failure: KeychainFailure

    func select(
        _: Selection, limit _: Int?, includingValues _: Bool, _: Authorization
    ) throws(KeychainFailure) -> SelectedItems {
        throw failure
    }

    func insert(_: Item, _: Authorization) throws(KeychainFailure) -> StoredItem { throw failure }

    func update(
        _: Selection, _: Authorization, _: (StoredItem) throws(KeychainFailure) -> Item
    ) throws(KeychainFailure) -> SelectedItems {
        throw failure
    }

    func delete(_: Selection) throws(KeychainFailure) -> Int { throw failure }
}
