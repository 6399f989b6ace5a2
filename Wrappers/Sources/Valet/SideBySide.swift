// SPDX-License-Identifier: Apache-2.0
// The names of this module for programs that import others beside it: `Valet` means the class, so the class has them.

/// What ``Valet/KeychainError`` is: a name that nothing else has.
public typealias ValetKeychainError = KeychainError
/// What ``Valet/MigrationError`` is.
public typealias ValetMigrationError = MigrationError
/// What ``Valet/Accessibility`` is.
public typealias ValetAccessibility = Accessibility
/// What ``Valet/CloudAccessibility`` is.
public typealias ValetCloudAccessibility = CloudAccessibility
/// What ``Valet/Identifier`` is.
public typealias ValetIdentifier = Identifier
/// What ``Valet/SharedGroupIdentifier`` is.
public typealias ValetSharedGroupIdentifier = SharedGroupIdentifier
/// What ``Valet/SecureEnclaveAccessControl`` is.
public typealias ValetSecureEnclaveAccessControl = SecureEnclaveAccessControl
/// What ``Valet/MigratableKeyValuePair`` is.
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
