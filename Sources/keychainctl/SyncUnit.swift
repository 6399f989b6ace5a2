// SPDX-License-Identifier: Apache-2.0
// The systemd user unit that exchanges items.

import Foundation
import KeychainKit
import SecretMemory

/// A unit for `systemctl --user`. Nothing here starts it.
struct SyncUnit {
    static let name = "swift-keychain-sync.service"

    let program: String
    /// Where the vault is, if the environment says so: systemd starts the unit without it.
    let environment: [(name: String, value: String)]

    private static let passedOn = [
        "KEYCHAIN_VAULT", "KEYCHAIN_DEVICE_KEY", "KEYCHAIN_ANCHORS", "XDG_DATA_HOME", "XDG_CONFIG_HOME",
        "XDG_STATE_HOME",
    ]

    static func forThisProgram() throws(KeychainError) -> SyncUnit {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlink("/proc/self/exe", &path, path.count - 1)
        guard length > 0 else {
            throw KeychainError(.unavailable, "The path of this program is unknown: '/proc' cannot be read. Mount it.")
        }
        let environment = ProcessEnvironment.current
        return SyncUnit(
            program: String(decoding: path.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self),
            environment: passedOn.compactMap { name in environment.value(name).map { (name, $0) } })
    }

    var text: String {
        let variables = environment.map { "Environment=\(Self.quoted("\($0.name)=\($0.value)"))\n" }.joined()
        return """
            [Unit]
            Description=Exchange keychain items with other machines

            [Service]
            \(variables)ExecStart=\(Self.quoted(program)) sync watch
            Restart=on-failure
            RestartSec=60
            NoNewPrivileges=yes

            [Install]
            WantedBy=default.target

            """
    }

    /// As systemd reads it: percent signs begin specifiers, dollar signs variables.
    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for character in text {
            switch character {
            case "\"", "\\": quoted += "\\" + String(character)
            case "%": quoted += "%%"
            case "$": quoted += "$$"
            default: quoted.append(character)
            }
        }
        return quoted + "\""
    }

    /// Writes the unit, in place of an earlier one.
    ///
    /// - Returns: Its path.
    func write() throws(KeychainError) -> String {
        guard let base = ProcessEnvironment.current.configurationFolder else {
            throw KeychainError(.unavailable, "There is no home folder for the unit. Set HOME, or use --print.")
        }
        let folder = base + "/systemd/user"
        let path = folder + "/" + Self.name
        do {
            try FileManager.default.createPrivateFolder(folder)
            try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        } catch {
            throw KeychainError(
                .unavailable, "'\(path)' cannot be written. Check the permissions of the folder, or use --print.")
        }
        return path
    }
}
