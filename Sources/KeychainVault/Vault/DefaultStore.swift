// SPDX-License-Identifier: Apache-2.0
// The default store of a process.

public import KeychainEngine
public import SecretMemory

extension Vault {
    /// The vault that the environment names; without a usable one, a store that fails every call with the reason.
    ///
    /// A missing `HOME` must not end the host program, and must not redirect secrets to another place.
    ///
    /// - Parameter environment: Without one, the variables that ``SecretMemory/ProcessEnvironment`` lets a program with
    ///   these rights use.
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

/// A store that fails every call with one reason.
struct UnavailableStore: TransactionalStore {
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
