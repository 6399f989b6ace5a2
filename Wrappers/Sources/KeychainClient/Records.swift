// SPDX-License-Identifier: Apache-2.0
// The records that a client stores. Printing them reveals nothing.

/// A user.
///
/// ```swift
/// let user = UserData(email: "alice@example.com", firstName: "Alice", lastName: "Liddell", identifier: "42")
/// ```
public struct UserData: Codable, Hashable, Sendable {
    public var email: String
    public var firstName: String
    public var lastName: String
    public var identifier: String

    public init(email: String, firstName: String, lastName: String, identifier: String) {
        (self.email, self.firstName, self.lastName, self.identifier) = (email, firstName, lastName, identifier)
    }
}

/// The registration of a device.
///
/// ```swift
/// let device = DeviceData(endpointArn: "arn:aws:sns:eu-central-1:123456789012:endpoint/app")
/// ```
public struct DeviceData: Codable, Hashable, Sendable {
    public var endpointArn: String

    public init(endpointArn: String) { self.endpointArn = endpointArn }
}

extension UserData: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "UserData(redacted)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension DeviceData: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "DeviceData(redacted)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
