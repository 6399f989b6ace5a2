// SPDX-License-Identifier: Apache-2.0
// The secrets of one service or server: what an app works with.

public import KeychainEngine

/// Keeps the secrets of one service, or of one server, by account.
///
/// ```swift
/// let store = SecretStore(service: "com.example.app")
/// try store.save("s3cret", for: "alice")
/// let token = try store.read(String.self, for: "alice")
/// ```
///
/// A value: copies are cheap, and changing one changes no other. Everything comes in a synchronous form, which blocks the
/// thread, and in an asynchronous one of the same name, which blocks none, can be cancelled and has a ``deadline``.
///
/// What is read is what is there: `nil` means that the keychain could be read and has no such item. Everything else that
/// keeps a value from being read is a ``KeychainError``, whose reason tells an item that is locked from one that is damaged.
///
/// Does not protect against other programs of the same user, which can open the same keychain.
public struct SecretStore: Sendable {
    let place: Place
    private(set) var backing: Backing

    /// The access group of the items; `nil`: new ones go to the program's default group, and all groups that it may use are
    /// searched.
    public var accessGroup: String?
    /// When the items can be opened. Saving applies it to items that exist; `nil` leaves those as they are, and makes new
    /// ones open while the keychain is unlocked.
    public var accessibility: Accessibility?
    /// What is asked of the user before an item opens. Saving applies it to items that exist; `nil` leaves those as they are,
    /// and empty asks for nothing.
    public var accessControl: AccessControl.Flags?
    /// Whether the items take part in synchronization; those that do and those that do not are different items.
    public var synchronizable = false
    /// Whether what is looked for may be of either kind, and saving leaves one item of a name in its access group: for
    /// wrappers that know one item of a name, whatever its kind. New ones are of the store's own kind.
    package var synchronizableAny = false
    /// Turns values into bytes and back, but for text and bytes, which are stored as they are.
    public var coder: any SecretCoder = .json
    /// What the user has proven already, and who asks; `nil`: whatever the environment is configured for.
    public var context: AuthenticationContext?
    /// Whether a person may be asked; otherwise items that want one are `interactionNotAllowed`.
    public var mayAsk = true
    /// What a person is told that they are asked for.
    public var prompt: String?
    /// How long a call may take; `nil`: asynchronous calls ``Deadline/standard``, synchronous ones as long as it takes. With
    /// a deadline synchronous calls too can leave a keychain behind that does not answer, which costs each a change of threads.
    public var deadline: Deadline?
    /// Whether a keychain without transactions, as Apple's is, makes the changes of one in their order, each on its own; else
    /// it refuses them. For wrappers whose changes leave nothing wrong behind wherever they stop.
    package var changesInSteps = false

    /// The generic passwords of a service.
    ///
    /// - Parameters:
    ///   - service: Commonly the reverse domain name of the program.
    ///   - store: Where the items are kept; `nil`: the keychain of the user.
    ///   - caller: The access groups that may be used; `nil`: the program's for the keychain of the user, else all.
    public init(
        service: String, accessGroup: String? = nil, accessibility: Accessibility? = nil,
        accessControl: AccessControl.Flags? = nil, synchronizable: Bool = false, coder: any SecretCoder = .json,
        store: (any ItemStore)? = nil, caller: Caller? = nil
    ) {
        self.init(.service(service), Backing.of(store, caller))
        (self.accessGroup, self.accessibility, self.accessControl) = (accessGroup, accessibility, accessControl)
        (self.synchronizable, self.coder) = (synchronizable, coder)
    }

    /// The internet passwords of a server. What is not given is part of the name as well: a password for a port is another
    /// item than one without.
    ///
    /// ```swift
    /// let logins = SecretStore(server: "git.example.com", protocol: .https)
    /// try logins.save("t0ken", for: "alice")
    /// ```
    public init(
        server: String, protocol: InternetProtocol? = nil, port: Int? = nil, path: String? = nil,
        securityDomain: String? = nil, authenticationType: InternetAuthentication? = nil, accessGroup: String? = nil,
        accessibility: Accessibility? = nil, accessControl: AccessControl.Flags? = nil, synchronizable: Bool = false,
        coder: any SecretCoder = .json, store: (any ItemStore)? = nil, caller: Caller? = nil
    ) {
        let server = Place.Server(
            host: server, protocol: `protocol`, port: port, path: path, securityDomain: securityDomain,
            authenticationType: authenticationType)
        self.init(.server(server), Backing.of(store, caller))
        (self.accessGroup, self.accessibility, self.accessControl) = (accessGroup, accessibility, accessControl)
        (self.synchronizable, self.coder) = (synchronizable, coder)
    }

    init(_ place: Place, _ backing: Backing) {
        self.place = place
        self.backing = backing
    }

    /// The time by which items are dated and calls end.
    public var clock: KeychainClock {
        get { backing.clock }
        set { backing = backing.with(newValue) }
    }

    var protection: Protection { Protection(accessibility: accessibility, constraints: accessControl) }

    /// How far the keychain is unlocked for this program.
    public var lockState: LockState {
        get throws(KeychainError) { try backing.engine.store.lockState }
    }
}

extension Backing {
    static func of(_ store: (any ItemStore)?, _ caller: Caller?) -> Backing {
        switch (store, caller) {
        case (nil, nil): shared
        case (let store?, let caller): Backing(store, caller ?? .unrestricted, .system)
        case (nil, let caller?): Backing(shared.engine.store, caller, .system)
        }
    }
}
