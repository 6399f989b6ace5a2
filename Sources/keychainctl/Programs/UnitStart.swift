// SPDX-License-Identifier: Apache-2.0
// How a unit of systemd starts this program.

import Foundation
import KeychainKit
import KeychainVault
import SecretMemory

/// The command and the environment, as a unit has them.
struct UnitStart {
    /// Quoted.
    let program: String
    /// Lines that say where the vault is, if the environment does: systemd starts the unit without it.
    let variables: String

    private static let passedOn = [
        "KEYCHAIN_VAULT", "KEYCHAIN_DEVICE_KEY", "KEYCHAIN_ANCHORS", "XDG_DATA_HOME", "XDG_CONFIG_HOME",
        "XDG_STATE_HOME",
    ]

    static func ofThisProgram() throws(KeychainError) -> UnitStart {
        let environment = ProcessEnvironment.current
        // A path that no command accepts would stay unnoticed until the unit starts.
        _ = try VaultLocation.fromEnvironment(environment)
        let variables = passedOn.compactMap { name in
            environment.value(name).map { "Environment=\(UnitText.quoted("\(name)=\($0)"))\n" }
        }
        return UnitStart(program: UnitText.quoted(try programPath()), variables: variables.joined())
    }

    /// The path of this program.
    static func programPath() throws(KeychainError) -> String {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlink("/proc/self/exe", &path, path.count - 1)
        guard length > 0 else {
            throw KeychainError(.unavailable, "The path of this program is unknown: '/proc' cannot be read. Mount it.")
        }
        return String(decoding: path.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// Text as units have it.
enum UnitText {
    /// A word of `ExecStart=` or `Environment=`. Percent signs begin specifiers. Dollar signs are left as they are, because systemd
    /// replaces variables neither in the path of a program nor in `Environment=`.
    static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\" + String(scalar)
            case "%": quoted += "%%"
            case "\n": quoted += "\\n"
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    /// A path that stands alone: systemd takes quotation marks, backslashes and spaces in it as they are.
    static func path(_ path: String) throws(KeychainError) -> String {
        guard !path.contains(where: \.isNewline) else {
            throw KeychainError(
                .unsupported,
                "The path of the ring's folder has a line break, which no path unit can contain. Use 'sync install-unit' without --timer."
            )
        }
        return path.replacing("%", with: "%%")
    }
}
