// SPDX-License-Identifier: Apache-2.0
// A keychain with a passphrase, and a simulated user who may be asked for it.

import Foundation
import KeychainEngine
import KeychainServices
import KeychainTestSupport
import Testing

/// Services over a fresh store with the passphrase `Person.passphrase`.
struct ProtectedKeychain: Sendable {
    let store: any LockableStore
    /// Requests without a context ask this person; contexts do unless they get another one.
    let person: (any Authenticator)?
    let services: Services

    init(_ kind: StoreKind, _ person: (any Authenticator)? = Person(), dialect: Engine.Dialect = .lenient) throws {
        let store = try kind.store(passphrase: Person.passphrase)
        self.store = store
        self.person = person
        let engine = Engine(store: store, dialect: dialect, authenticator: { person })
        services = Services(engine: engine, accessGroups: AccessGroups(["test"]))
    }

    /// What the person was asked.
    var questions: [AuthenticationQuestion] { (person as? Person)?.questions ?? [] }

    func context(_ other: (any Authenticator)? = nil) -> LAContext {
        let person = other ?? person
        return LAContext(services: services, authenticator: { person })
    }

    /// Adds an item that asks for something.
    func add(
        _ flags: SecAccessControlCreateFlags = .userPresence,
        _ accessibility: CFString = kSecAttrAccessibleWhenUnlocked,
        entries: Entries = [:]
    ) throws {
        let item = try protected(flags, accessibility).adding(["v_Data": secret]).adding(entries)
        try #require(services.add(item).status == errSecSuccess)
    }
}

/// An item that asks for something.
func protected(
    _ flags: SecAccessControlCreateFlags, _ accessibility: CFString = kSecAttrAccessibleWhenUnlocked
) throws -> Entries {
    genp(["accc": try #require(SecAccessControlCreateWithFlags(nil, accessibility, flags, nil))])
}
