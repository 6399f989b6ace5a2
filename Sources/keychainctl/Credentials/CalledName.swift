// SPDX-License-Identifier: Apache-2.0
// The names under which git, docker, ssh, sudo and scripts for macOS start this program, through links to it.

enum CalledName: String, CaseIterable {
    case git = "git-credential-keychain"
    case docker = "docker-credential-keychain"
    case askpass = "keychain-askpass"
    case security

    /// The arguments that stand for the same call under the program's own name.
    ///
    /// - Parameter arguments: Those of the command line, with the name of the program.
    static func words(_ arguments: [String]) -> [String] {
        let given = Array(arguments.dropFirst())
        let name = arguments.first?.split(separator: "/").last.map(String.init) ?? ""
        // No program asks only that.
        if name == askpass.rawValue, given == ["--version"] || given == ["--help"] { return ["askpass"] + given }
        return CalledName(rawValue: name).map { $0.command + given } ?? given
    }

    /// A prompt may begin with a hyphen, and what docker passes is never an option. In git's configuration, options may
    /// follow the name of the helper.
    private var command: [String] {
        switch self {
        case .git: ["git-credential"]
        case .docker: ["docker-credential", "--"]
        case .askpass: ["askpass", "--"]
        case .security: ["security"]
        }
    }
}
