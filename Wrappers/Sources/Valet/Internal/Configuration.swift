// SPDX-License-Identifier: Apache-2.0
// The four kinds of valets.

@_spi(Wrappers) import KeychainKit

/// The kind of a valet, and when its items open.
enum Configuration: CustomStringConvertible, Sendable {
    case valet(Accessibility)
    case iCloud(CloudAccessibility)
    case secureEnclave(SecureEnclaveAccessControl)
    case singlePromptSecureEnclave(SecureEnclaveAccessControl)

    /// The name in the services of items. These were once the names of classes.
    var description: String {
        switch self {
        case .valet: "VALValet"
        case .iCloud: "VALSynchronizableValet"
        case .secureEnclave: "VALSecureEnclaveValet"
        case .singlePromptSecureEnclave: "VALSinglePromptSecureEnclaveValet"
        }
    }

    var accessibility: Accessibility {
        switch self {
        case .valet(let accessibility): accessibility
        case .iCloud(let accessibility): accessibility.accessibility
        case .secureEnclave, .singlePromptSecureEnclave: .whenPasscodeSetThisDeviceOnly
        }
    }

    /// `nil`: the user is not asked.
    var accessControl: SecureEnclaveAccessControl? {
        switch self {
        case .valet, .iCloud: nil
        case .secureEnclave(let control), .singlePromptSecureEnclave(let control): control
        }
    }

    var isSynchronizable: Bool {
        if case .iCloud = self { true } else { false }
    }

    /// A description for people.
    var prettyDescription: String { "\(accessibility) (\(kind))" }

    private var kind: String {
        switch self {
        case .valet: "Valet"
        case .iCloud: "iCloud"
        case .secureEnclave: "Secure Enclave"
        case .singlePromptSecureEnclave: "Single Prompt"
        }
    }
}
