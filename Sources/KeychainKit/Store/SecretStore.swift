// SPDX-License-Identifier: Apache-2.0
// The secrets of one service or server: the main type of this module.

// Folders, from top to bottom:
//
// - Wrappers: what only the wrappers over this module need
// - Changes: sequences of changes and values
// - Migration: items from other places, and values of earlier types
// - Transactions: several changes as one
// - Store: the secrets of one service or server
// - Items: items of any kind, and lists of them
// - Calls: the threads and timeouts of calls
// - Values: conversion between secrets and types of the program
// - .: re-exported types

public import Foundation
public import KeychainEngine

/// Stores the secrets of one service, or of one server, by account.
///
/// ```swift
/// let store = SecretStore(service: "com.example.app")
/// try store.save("s3cret", for: "alice")
/// let token = try store.read(String.self, for: "alice")
/// ```
///
/// A store is a value: copies are cheap, and changing a copy does not change the original. Every call has a synchronous
/// form, which blocks the thread, and an asynchronous form of the same name, which blocks no thread, can be cancelled
/// and has a ``timeout``.
///
/// Reading returns `nil` only if the keychain could be read and has no such item. Every other failure is a
/// ``KeychainError``. Its reason distinguishes, for example, a locked item from a damaged one.
///
/// Does not protect against other programs of the same user: they can open the same keychain.
public struct SecretStore: Sendable {
    let place: Place
    private(set) var backing: Backing

    /// The access group of the items. `nil`: new items go to the program's default group, and searches cover all groups
    /// that the program may use.
    public var accessGroup: String?
    /// When the items can be opened. Saving applies it to existing items too. `nil`: existing items keep their class,
    /// and new items get `whenUnlocked`.
    public var accessibility: Accessibility?
    /// The authentication that an item requires before it opens. Saving applies it to existing items too. `nil`:
    /// existing items keep theirs. Empty: nothing is required.
    public var accessControl: AccessControl.Flags?
    /// Whether the items are synchronizable. A synchronizable item and one that is not are different items, even with
    /// the same name.
    public var synchronizable = false
    /// Encodes and decodes values. Text and bytes are stored as they are.
    public var coder: any SecretCoder = .json
    /// Proofs of the user, and the authenticator that asks for more. `nil`: the authenticator that is configured in the
    /// environment.
    public var context: AuthenticationContext?
    /// Whether the user may be asked. If not, items that require authentication fail with `interactionNotAllowed`.
    public var allowsInteraction = true
    /// The reason that is shown when the user is asked.
    public var prompt: String?
    /// How long a call may take. `nil`, the default: asynchronous calls use ``Timeout/standard``, synchronous calls
    /// have no timeout. A synchronous call with a timeout runs on another thread, so that it can return when the
    /// keychain does not answer.
    public var timeout: Timeout?

    /// The generic passwords of a service.
    ///
    /// - Parameters:
    ///   - service: Usually the reverse domain name of the program.
    ///   - store: The store of the items. `nil`: the user's keychain.
    ///   - accessGroups: The access groups that may be used. `nil`: the program's groups for the user's keychain,
    ///     otherwise all groups.
    public init(
        service: String, accessGroup: String? = nil, accessibility: Accessibility? = nil,
        accessControl: AccessControl.Flags? = nil, synchronizable: Bool = false, coder: any SecretCoder = .json,
        store: (any ItemStore)? = nil, accessGroups: AccessGroups? = nil
    ) {
        self.init(.service(service), Backing.of(store, accessGroups))
        (self.accessGroup, self.accessibility, self.accessControl) = (accessGroup, accessibility, accessControl)
        (self.synchronizable, self.coder) = (synchronizable, coder)
    }

    /// The internet passwords of a server.
    ///
    /// ```swift
    /// let logins = SecretStore(server: .init("git.example.com", protocol: .https))
    /// try logins.save("t0ken", for: "alice")
    /// ```
    ///
    /// - Parameter server: The server. For the other parameters see the initializer with a service.
    public init(
        server: Server, accessGroup: String? = nil, accessibility: Accessibility? = nil,
        accessControl: AccessControl.Flags? = nil, synchronizable: Bool = false, coder: any SecretCoder = .json,
        store: (any ItemStore)? = nil, accessGroups: AccessGroups? = nil
    ) {
        self.init(.server(server), Backing.of(store, accessGroups))
        (self.accessGroup, self.accessibility, self.accessControl) = (accessGroup, accessibility, accessControl)
        (self.synchronizable, self.coder) = (synchronizable, coder)
    }

    init(_ place: Place, _ backing: Backing) {
        self.place = place
        self.backing = backing
    }

    /// The same secrets through another store over the same keychain, such as one that confirms each change on all machines.
    ///
    /// ```swift
    /// try await store.through(confirmed).save(token, for: "alice")
    /// ```
    ///
    /// Everything else of this store applies: the access groups that it may use, its ``timeout``, its ``clock``.
    public func through(_ store: any ItemStore) -> SecretStore {
        var copy = self
        copy.backing = Backing(store, backing.accessGroups, time: backing.time, now: backing.now)
        return copy
    }

    /// The clock that measures ``timeout``, and for how long a change that other programs disturb is tried again. The
    /// default is the system's continuous clock.
    ///
    /// The pauses between these attempts, of at most 5 ms, are real time: a clock that stands still stops no call.
    public var clock: any Clock<Duration> {
        get { backing.time.clock }
        set { backing = backing.with(newValue) }
    }

    /// The date of new and changed items. The default is the system's date.
    ///
    /// ```swift
    /// store.now = { Date(timeIntervalSinceReferenceDate: 1) }
    /// ```
    public var now: @Sendable () -> Date {
        get { backing.now }
        set { backing = backing.with(now: newValue) }
    }

    var protection: Protection { Protection(accessibility: accessibility, constraints: accessControl) }

    /// The lock state of the keychain for this program.
    public var lockState: LockState {
        get throws(KeychainError) { try backing.engine.store.lockState }
    }
}

extension Backing {
    package static func of(_ store: (any ItemStore)?, _ accessGroups: AccessGroups?) -> Backing {
        switch (store, accessGroups) {
        case (nil, nil): shared
        case (let store?, let accessGroups): Backing(store, accessGroups ?? .unrestricted)
        case (nil, let accessGroups?): Backing(shared.engine.store, accessGroups)
        }
    }
}
