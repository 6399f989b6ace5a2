// SPDX-License-Identifier: Apache-2.0
// The keys of a client's values.

/// The keys of a client's values.
///
/// ```swift
/// let hasToken = try valet.containsObject(forKey: KeychainKeys.jwtToken)
/// ```
public enum KeychainKeys {
    public static let email = "email"
    public static let firstName = "firstName"
    public static let lastName = "lastName"
    public static let identifier = "identifier"
    public static let jwtToken = "jwtToken"
    public static let endpointArn = "endpointArn"

    /// The whole user, as JSON. Older versions stored its parts under the other four keys; these are read, and are
    /// removed when the user is stored again.
    public static let userData = "userData"

    static let partsOfUser = [email, firstName, lastName, identifier]
}
