// SPDX-License-Identifier: Apache-2.0
// The store of a process that named none.

public import KeychainEngine
public import SecretMemory

extension Vault {
    /// The vault that the environment names, or in its place a store that answers every call with why there is none.
    ///
    /// A missing `HOME` must not end the host program, and must not make secrets go somewhere else either.
    ///
    /// - Parameter environment: Without one, what ``SecretMemory/ProcessEnvironment`` lets a program of these rights heed.
    public static func ofEnvironment(
        _ environment: [String: String] = ProcessEnvironment.current
    ) -> any ItemStore {
        do throws(KeychainError) {
            return Vault.at(try .fromEnvironment(environment), try .fromEnvironment(environment))
        } catch {
            return UnavailableStore(failure: error)
        }
    }
}

/// A store that can do nothing, and says why.
struct UnavailableStore: ItemStore {
    let failure: KeychainError

    func select(
        _: Selection, limit _: Int?, includingValues _: Bool, _: Authorization
    ) throws(KeychainError) -> SelectedItems {
        throw failure
    }

    func insert(_: Item, _: Authorization) throws(KeychainError) -> StoredItem { throw failure }

    func update(
        _: Selection, _: Authorization, _: (StoredItem) throws(KeychainError) -> Item
    ) throws(KeychainError) -> SelectedItems {
        throw failure
    }

    func delete(_: Selection, _: Authorization) throws(KeychainError) -> Int { throw failure }

    let hasTransactions = true

    func transaction<Result>(
        _: Authorization, _: (any ItemOperations) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        throw failure
    }

    var lockState: LockState {
        get throws(KeychainError) { throw failure }
    }

    func observe(_: @escaping @Sendable () -> Void) throws(KeychainError) -> StoreObservation { throw failure }
}
