// SPDX-License-Identifier: Apache-2.0
// What a program needs to reach a television again.

/// The address of a television, and the key by which it knows this program.
///
/// ```swift
/// let credentials = TVCredentials(ipAddress: "192.0.2.14", macAddress: "02:00:5E:10:00:01")
/// ```
///
/// Descriptions and the debugger omit the key.
public struct TVCredentials: Codable, Equatable, Sendable {
    public var ipAddress: String
    /// Six pairs of hexadecimal digits, with `:` or `-` between them.
    public var macAddress: String
    /// `nil` until the television has been paired. Anyone with the key can control the television.
    public var clientKey: String?

    public init(ipAddress: String, macAddress: String, clientKey: String? = nil) {
        (self.ipAddress, self.macAddress, self.clientKey) = (ipAddress, macAddress, clientKey)
    }
}

extension TVCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String {
        "TVCredentials(ipAddress: \(ipAddress), macAddress: \(macAddress), clientKey: \(shownKey))"
    }

    public var debugDescription: String { description }

    public var customMirror: Mirror {
        Mirror(self, children: ["ipAddress": ipAddress, "macAddress": macAddress, "clientKey": shownKey])
    }

    private var shownKey: String { clientKey == nil ? "none" : "not shown" }
}
