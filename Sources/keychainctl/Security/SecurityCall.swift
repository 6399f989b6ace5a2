// SPDX-License-Identifier: Apache-2.0
// One command of `security` with its words.

import KeychainKit

struct SecurityCall {
    let session: SecuritySession
    /// The words after the name of the command.
    let words: [String]

    func options(
        _ letters: String, mayLackValue: [Unicode.Scalar] = []
    ) throws(SecurityFailure) -> SecurityOptions {
        try SecurityOptions(words, letters, mayLackValue: mayLackValue)
    }

    /// The keychain of a name, or the default keychain.
    ///
    /// - Throws: Status -25294 if it is unknown.
    func keychain(_ name: String?, _ function: String) throws(SecurityFailure) -> NamedKeychain {
        let list = try naming(function) { () throws(KeychainError) in try KeychainListFile.read() }
        guard let name else { return list.defaultOne }
        guard let keychain = NamedKeychain(name) else {
            throw SecurityFailure(function, SecurityStatus.invalidKeychain)
        }
        guard list.knows(keychain) else {
            throw SecurityFailure(function, SecurityStatus.noSuchKeychain, keychain.absence)
        }
        return keychain
    }

    /// The named keychains, or the search list.
    ///
    /// As on macOS, it is no error to search a keychain that does not exist: nothing is found in it.
    func searched(_ names: [String]) throws(SecurityFailure) -> [NamedKeychain] {
        guard !names.isEmpty else {
            let list = try naming(Self.searchFunction) { () throws(KeychainError) in try KeychainListFile.read() }
            return list.searchList
        }
        var keychains: [NamedKeychain] = []
        for name in names {
            guard let keychain = NamedKeychain(name) else {
                throw SecurityFailure(Self.searchFunction, SecurityStatus.invalidKeychain)
            }
            keychains.append(keychain)
        }
        return keychains
    }
}
