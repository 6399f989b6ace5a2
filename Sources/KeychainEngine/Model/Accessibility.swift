// SPDX-License-Identifier: Apache-2.0
// The seven accessibility classes.

/// When an item's contents may be opened: one of Apple's seven accessibility classes, each with its own class key.
///
/// The raw value is the text of the `kSecAttrAccessible…` constant.
public enum Accessibility: String, Sendable, CaseIterable {
    case whenUnlocked = "ak"
    case afterFirstUnlock = "ck"
    case always = "dk"
    case whenUnlockedThisDeviceOnly = "aku"
    case afterFirstUnlockThisDeviceOnly = "cku"
    case alwaysThisDeviceOnly = "dku"
    case whenPasscodeSetThisDeviceOnly = "akpu"

    /// Apple's number of the class, 6 to 12. The vault's format stores it in each row to select the class key.
    public var number: UInt8 {
        switch self {
        case .whenUnlocked: 6
        case .afterFirstUnlock: 7
        case .always: 8
        case .whenUnlockedThisDeviceOnly: 9
        case .afterFirstUnlockThisDeviceOnly: 10
        case .alwaysThisDeviceOnly: 11
        case .whenPasscodeSetThisDeviceOnly: 12
        }
    }

    /// - Returns: `nil` for a number outside 6 to 12.
    public init?(number: UInt8) {
        guard let match = Self.allCases.first(where: { $0.number == number }) else { return nil }
        self = match
    }

    /// Whether items of this class are tied to this machine's device key.
    public var isThisDeviceOnly: Bool { number >= 9 }
}
