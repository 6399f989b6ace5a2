// SPDX-License-Identifier: Apache-2.0
// What it takes to reach a television again.

/// Where a television is, and the key by which it knows this program.
///
/// ```swift
/// let credentials = TVCredentials(ipAddress: "192.0.2.14", macAddress: "02:00:5E:10:00:01")
/// ```
///
/// In print and in a debugger the key is left out.
public struct TVCredentials: Codable, Equatable, Sendable {
    public var ipAddress: String
    /// Six pairs of hexadecimal digits, with `:` or `-` between them.
    public var macAddress: String
    /// `nil` until the television has been paired. Whoever has it controls the television.
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
