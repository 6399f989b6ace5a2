// SPDX-License-Identifier: Apache-2.0
// The default store and access groups of a process.

public import KeychainEngine
public import SecretMemory

extension AccessGroups {
    /// The access groups of the running program, from its entitlements file.
    ///
    /// | the file | is used |
    /// |---|---|
    /// | `KEYCHAIN_ENTITLEMENTS` names | if the variable is set; it has to be there |
    /// | `<executable>.entitlements`, beside the program's file | if it is there |
    ///
    /// Without one the program is unrestricted. `KEYCHAIN_TEAM_ID` is the team in `$(AppIdentifierPrefix)`, if the file
    /// names none. Does not protect against a program that sets these variables or changes the file: both belong to the
    /// user.
    ///
    /// ```swift
    /// let accessGroups = try AccessGroups.ofEnvironment()
    /// ```
    ///
    /// - Parameters:
    ///   - environment: Without one, the variables that ``SecretMemory/ProcessEnvironment`` lets a program with these
    ///     rights use.
    ///   - executable: The program's file, with links resolved; `nil` for the running one.
    /// - Throws: `unavailable`, or the system's error, if there is a file that cannot be used, or if the search for one
    ///   failed. ``AccessGroups/unrestricted`` is returned only if it is certain that there is none.
    public static func ofEnvironment(
        _ environment: [String: String] = ProcessEnvironment.current, executable: String? = nil
    ) throws(KeychainError) -> AccessGroups {
        guard let file = try EntitlementsFile.find(environment, executable: executable) else { return .unrestricted }
        let team = environment.value("KEYCHAIN_TEAM_ID")
        return AccessGroups(try Entitlements(file.bytes, path: file.path, team: team).groups)
    }
}

/// The store and access groups for an API whose functions take neither.
public struct DefaultKeychain: Sendable {
    public let store: any ItemStore
    public let accessGroups: AccessGroups

    /// The environment's vault and the program's access groups; without a usable vault, a store that fails every call
    /// with the reason. Create it once per process: the program's groups do not change while it runs.
    ///
    /// ```swift
    /// let keychain = DefaultKeychain.ofEnvironment()
    /// _ = try Engine(store: keychain.store).copyMatching(query, accessGroups: keychain.accessGroups)
    /// ```
    ///
    /// - Parameters:
    ///   - environment: As for `AccessGroups.ofEnvironment`.
    ///   - executable: As in ``KeychainEngine/AccessGroups/ofEnvironment(_:executable:)``.
    public static func ofEnvironment(
        _ environment: [String: String] = ProcessEnvironment.current, executable: String? = nil
    ) -> DefaultKeychain {
        do throws(KeychainError) {
            let accessGroups = try AccessGroups.ofEnvironment(environment, executable: executable)
            return DefaultKeychain(store: Vault.ofEnvironment(environment), accessGroups: accessGroups)
        } catch {
            // Without groups, the program would get a missing entitlement as the reason, which is wrong.
            return DefaultKeychain(store: UnavailableStore(failure: error), accessGroups: .unrestricted)
        }
    }
}
