// SPDX-License-Identifier: Apache-2.0
// The names of this module for programs that import other keychain modules: `Valet` means the class, so the names are
// members of it.

/// ``Valet/KeychainError`` under a unique name.
public typealias ValetKeychainError = KeychainError
/// ``Valet/MigrationError`` under a unique name.
public typealias ValetMigrationError = MigrationError
/// ``Valet/Accessibility`` under a unique name.
public typealias ValetAccessibility = Accessibility
/// ``Valet/CloudAccessibility`` under a unique name.
public typealias ValetCloudAccessibility = CloudAccessibility
/// ``Valet/Identifier`` under a unique name.
public typealias ValetIdentifier = Identifier
/// ``Valet/SharedGroupIdentifier`` under a unique name.
public typealias ValetSharedGroupIdentifier = SharedGroupIdentifier
/// ``Valet/SecureEnclaveAccessControl`` under a unique name.
public typealias ValetSecureEnclaveAccessControl = SecureEnclaveAccessControl
/// ``Valet/MigratableKeyValuePair`` under a unique name.
public typealias ValetMigratableKeyValuePair = MigratableKeyValuePair

extension Valet {
    public typealias KeychainError = ValetKeychainError
    public typealias MigrationError = ValetMigrationError
    public typealias Accessibility = ValetAccessibility
    public typealias CloudAccessibility = ValetCloudAccessibility
    public typealias Identifier = ValetIdentifier
    public typealias SharedGroupIdentifier = ValetSharedGroupIdentifier
    public typealias SecureEnclaveAccessControl = ValetSecureEnclaveAccessControl
    public typealias MigratableKeyValuePair = ValetMigratableKeyValuePair
}
