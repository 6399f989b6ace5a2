// SPDX-License-Identifier: Apache-2.0
// The names under which a client's values lie.

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

    /// The whole user, as JSON. The four keys of its parts are what older versions have stored; they are read, and removed
    /// when the user is stored again.
    public static let userData = "userData"

    static let partsOfUser = [email, firstName, lastName, identifier]
}
