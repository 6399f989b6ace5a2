// SPDX-License-Identifier: Apache-2.0
// The commands that change items, as the history names them, and what they keep.

enum ChangingCommand: String, CaseIterable {
    case set, edit, generate, delete, move, expire, undo, otp, security
    case importing = "import"
    case importArchive = "import-archive"
    case git = "git-credential"
    case docker = "docker-credential"
    /// `delete --forget`
    case forget

    /// Whether the item is kept as it was. A counter advances with each code, and an older one is of no use.
    var keeps: Bool { self != .otp && self != .forget }

    /// Whether the command knows the proofs that the item requires, or may ask for them. A deletion does not ask.
    var hasProofs: Bool { self == .move || self == .undo }

    /// Whether a value that the command replaces takes its expiry date with it.
    var renewsValues: Bool {
        switch self {
        case .set, .edit, .generate, .security, .importing, .git, .docker: true
        case .delete, .move, .expire, .undo, .otp, .importArchive, .forget: false
        }
    }
}
