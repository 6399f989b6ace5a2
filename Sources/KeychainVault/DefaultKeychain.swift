// SPDX-License-Identifier: Apache-2.0
// The store and the access groups of a process that named neither.

public import KeychainEngine
public import SecretMemory

extension Caller {
    /// The running program, by its entitlements file.
    ///
    /// | the file | is used |
    /// |---|---|
    /// | `KEYCHAIN_ENTITLEMENTS` names | if the variable is set; it has to be there |
    /// | `<executable>.entitlements`, beside the program's file | if it is there |
    ///
    /// Without one the program is unrestricted. `KEYCHAIN_TEAM_ID` is the team in `$(AppIdentifierPrefix)`, where the file
    /// names none. Does not protect against a program that sets these variables or changes the file: both are the user's.
    ///
    /// ```swift
    /// let caller = try Caller.ofEnvironment()
    /// ```
    ///
    /// - Parameters:
    ///   - environment: Without one, what ``SecretMemory/ProcessEnvironment`` lets a program of these rights heed.
    ///   - executable: The program's file, with links resolved; `nil` for the one that runs.
    /// - Throws: `unavailable`, or what the system said, if there is a file that cannot be used, and if one cannot be looked
    ///   for. A caller that no file restricts is returned only if it is certain that there is none.
    public static func ofEnvironment(
        _ environment: [String: String] = ProcessEnvironment.current, executable: String? = nil
    ) throws(KeychainError) -> Caller {
        guard let file = try EntitlementsFile.find(environment, executable: executable) else { return .unrestricted }
        let team = environment["KEYCHAIN_TEAM_ID"]
        return Caller(groups: try Entitlements(file.bytes, path: file.path, team: team).groups)
    }
}

/// What a surface works with when its functions take neither store nor caller.
public struct DefaultKeychain: Sendable {
    public let store: any ItemStore
    public let caller: Caller

    /// The environment's vault and the program's access groups, or in the vault's place a store that answers every call with
    /// why there is none. To be made once in a process: the program's groups do not change while it runs.
    ///
    /// ```swift
    /// let keychain = DefaultKeychain.ofEnvironment()
    /// _ = try Engine(store: keychain.store).copyMatching(query, caller: keychain.caller)
    /// ```
    ///
    /// - Parameters:
    ///   - environment: As there.
    ///   - executable: As in ``KeychainEngine/Caller/ofEnvironment(_:executable:)``.
    public static func ofEnvironment(
        _ environment: [String: String] = ProcessEnvironment.current, executable: String? = nil
    ) -> DefaultKeychain {
        do throws(KeychainError) {
            let caller = try Caller.ofEnvironment(environment, executable: executable)
            return DefaultKeychain(store: Vault.ofEnvironment(environment), caller: caller)
        } catch {
            // A caller without groups would be told of a missing entitlement, which is not what is wrong.
            return DefaultKeychain(store: UnavailableStore(failure: error), caller: .unrestricted)
        }
    }
}
