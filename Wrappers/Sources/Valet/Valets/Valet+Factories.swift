// SPDX-License-Identifier: Apache-2.0
// The factories of valets. There is one object for each configuration.

@_spi(Wrappers) import KeychainKit
@_spi(Wrappers) import KeychainSecItem
@_spi(Wrappers) import KeychainServices

extension Valet {
    private static let valets = WeakStorage<Valet>()

    static func findOrCreate(_ service: Service) -> Valet {
        valets.object(service.uniqueName) { Valet(service) }
    }

    /// The valet with this name.
    ///
    /// ```swift
    /// let valet = Valet.valet(with: identifier, accessibility: .whenUnlocked)
    /// ```
    public static func valet(with identifier: Identifier, accessibility: Accessibility) -> Valet {
        findOrCreate(.standard(identifier, .valet(accessibility)))
    }

    /// The valet with this name whose items take part in synchronization.
    ///
    /// ```swift
    /// let valet = Valet.iCloudValet(with: identifier, accessibility: .whenUnlocked)
    /// ```
    public static func iCloudValet(with identifier: Identifier, accessibility: CloudAccessibility) -> Valet {
        findOrCreate(.standard(identifier, .iCloud(accessibility)))
    }

    /// The valet of an access group. All programs that may use the group share its items.
    ///
    /// ```swift
    /// let valet = Valet.sharedGroupValet(with: group, accessibility: .whenUnlocked)
    /// ```
    ///
    /// - Parameter identifier: Distinguishes several valets of one group.
    public static func sharedGroupValet(
        with groupIdentifier: SharedGroupIdentifier, identifier: Identifier? = nil, accessibility: Accessibility
    ) -> Valet {
        findOrCreate(.sharedGroup(groupIdentifier, identifier, .valet(accessibility)))
    }

    /// The valet of an access group whose items take part in synchronization.
    ///
    /// ```swift
    /// let valet = Valet.iCloudSharedGroupValet(with: group, accessibility: .whenUnlocked)
    /// ```
    ///
    /// - Parameter identifier: Distinguishes several valets of one group.
    public static func iCloudSharedGroupValet(
        with groupIdentifier: SharedGroupIdentifier, identifier: Identifier? = nil, accessibility: CloudAccessibility
    ) -> Valet {
        findOrCreate(.sharedGroup(groupIdentifier, identifier, .iCloud(accessibility)))
    }

    // MARK: - With a service that the program chooses

    /// The valet whose service is the identifier itself. The accessibility is then not part of the name.
    ///
    /// ```swift
    /// let valet = Valet.valet(withExplicitlySet: identifier, accessibility: .whenUnlocked)
    /// ```
    ///
    /// Does not protect against another valet, or another program of the same group, that uses the same service.
    public static func valet(withExplicitlySet identifier: Identifier, accessibility: Accessibility) -> Valet {
        findOrCreate(.standardOverride(service: identifier, .valet(accessibility)))
    }

    /// The same for items that take part in synchronization.
    ///
    /// ```swift
    /// let valet = Valet.iCloudValet(withExplicitlySet: identifier, accessibility: .whenUnlocked)
    /// ```
    public static func iCloudValet(
        withExplicitlySet identifier: Identifier, accessibility: CloudAccessibility
    ) -> Valet {
        findOrCreate(.standardOverride(service: identifier, .iCloud(accessibility)))
    }

    /// The valet of an access group whose service is the name of the group itself.
    ///
    /// ```swift
    /// let valet = Valet.sharedGroupValet(withExplicitlySet: group, accessibility: .whenUnlocked)
    /// ```
    public static func sharedGroupValet(
        withExplicitlySet identifier: SharedGroupIdentifier, accessibility: Accessibility
    ) -> Valet {
        findOrCreate(.sharedGroupOverride(service: identifier, .valet(accessibility)))
    }

    /// The same for items that take part in synchronization.
    ///
    /// ```swift
    /// let valet = Valet.iCloudSharedGroupValet(withExplicitlySet: group, accessibility: .whenUnlocked)
    /// ```
    public static func iCloudSharedGroupValet(
        withExplicitlySet identifier: SharedGroupIdentifier, accessibility: CloudAccessibility
    ) -> Valet {
        findOrCreate(.sharedGroupOverride(service: identifier, .iCloud(accessibility)))
    }
}

// MARK: - For tests

extension Valet {
    static func permutations(with identifier: Identifier) -> [Valet] {
        Accessibility.allCases.map { valet(with: identifier, accessibility: $0) }
    }

    static func permutations(with group: SharedGroupIdentifier, identifier: Identifier? = nil) -> [Valet] {
        Accessibility.allCases.map { sharedGroupValet(with: group, identifier: identifier, accessibility: $0) }
    }

    static func iCloudPermutations(with identifier: Identifier) -> [Valet] {
        CloudAccessibility.allCases.map { iCloudValet(with: identifier, accessibility: $0) }
    }

    static func iCloudPermutations(with group: SharedGroupIdentifier, identifier: Identifier? = nil) -> [Valet] {
        CloudAccessibility.allCases.map {
            iCloudSharedGroupValet(with: group, identifier: identifier, accessibility: $0)
        }
    }
}

extension KeychainError {
    init(status: OSStatus) { self.init(KeychainKit.KeychainError(system: status)) }
}
