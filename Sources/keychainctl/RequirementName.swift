// SPDX-License-Identifier: Apache-2.0
// What an item requires of the user, as an option names it.

import ArgumentParser
import KeychainEngine
import KeychainKit

enum RequirementName: String, ExpressibleByArgument, CaseIterable {
    case userPresence = "user-presence"
    case devicePasscode = "device-passcode"
    case applicationPassword = "application-password"
    case none

    static let help = allCases.map(\.rawValue).joined(separator: ", ")

    /// Apple's flag.
    var flag: AccessControl.Flags {
        switch self {
        case .userPresence: .userPresence
        case .devicePasscode: .devicePasscode
        case .applicationPassword: .applicationPassword
        case .none: []
        }
    }
}
