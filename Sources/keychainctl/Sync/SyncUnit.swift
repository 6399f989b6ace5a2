// SPDX-License-Identifier: Apache-2.0
// The systemd user units that exchange items.

import Foundation
import KeychainKit
import SecretMemory

/// A file for `systemctl --user`. Nothing here starts it.
struct SyncUnit {
    let name: String
    let text: String

    /// The service that runs `sync watch`.
    static let watching = "swift-keychain-sync.service"
    private static let once = "swift-keychain-sync-now"

    /// The unit that runs `sync watch`.
    static func watch(_ start: UnitStart) -> [SyncUnit] {
        let text = """
            [Unit]
            Description=Exchange keychain items with other machines

            [Service]
            \(start.variables)ExecStart=\(start.program) sync watch
            Restart=on-failure
            RestartSec=60
            NoNewPrivileges=yes

            [Install]
            WantedBy=default.target

            """
        return [SyncUnit(name: watching, text: text)]
    }

    /// The units that run `sync now` from time to time, and when something comes into folders.
    ///
    /// - Parameter folders: Those of the ring; empty if it is in no folder.
    static func timed(_ start: UnitStart, folders: [String]) throws(KeychainError) -> [SyncUnit] {
        let path = try folders.isEmpty ? [] : [arrivals(folders)]
        return [service(start), timer] + path
    }

    private static func service(_ start: UnitStart) -> SyncUnit {
        // Files may arrive at any rate. While the service runs, systemd starts no second one.
        let text = """
            [Unit]
            Description=Exchange keychain items with other machines once
            StartLimitIntervalSec=0

            [Service]
            Type=oneshot
            \(start.variables)ExecStart=\(start.program) sync now
            NoNewPrivileges=yes

            """
        return SyncUnit(name: once + ".service", text: text)
    }

    private static let timer = SyncUnit(
        name: once + ".timer",
        text: """
            [Unit]
            Description=Exchange keychain items every five minutes

            [Timer]
            OnActiveSec=10s
            OnUnitInactiveSec=5min

            [Install]
            WantedBy=timers.target

            """)

    private static func arrivals(_ folders: [String]) throws(KeychainError) -> SyncUnit {
        let paths = try folders.map { (folder) throws(KeychainError) in "PathChanged=\(try UnitText.path(folder))\n" }
        let text = """
            [Unit]
            Description=Exchange keychain items when others have put files into the folder of the ring

            [Path]
            \(paths.joined())TriggerLimitIntervalSec=0

            [Install]
            WantedBy=paths.target

            """
        return SyncUnit(name: once + ".path", text: text)
    }
}

extension [SyncUnit] {
    /// As `--print` shows them: one as it is, several under their names.
    var text: String {
        count == 1 ? self[0].text : map { "# \($0.name)\n\($0.text)" }.joined(separator: "\n")
    }

    /// Those that a person enables. The service that a timer starts is not one of them.
    var toEnable: [String] { filter { $0.text.split(separator: "\n").contains("[Install]") }.map(\.name) }

    /// Writes the units, in place of earlier ones. A link stays, and gets its text into the file that it leads to.
    ///
    /// - Returns: Their folder.
    /// - Throws: `unsafeLocation` if a unit is masked or is no file: then none is written; `diskFull`; `unavailable`.
    func write() throws(KeychainError) -> String {
        guard let base = ProcessEnvironment.current.configurationFolder else {
            throw KeychainError(.unavailable, "There is no home folder for the unit. Set HOME, or use --print.")
        }
        let folder = base + "/systemd/user"
        var replaced: [(file: ConfigurationFile, old: [UInt8]?, text: String)] = []
        for unit in self {
            let file = ConfigurationFile(folder + "/" + unit.name)
            // What `systemctl mask` puts there. Somebody does not want the unit to run.
            guard file.path != "/dev/null" else {
                throw KeychainError(
                    .unsafeLocation,
                    "'\(unit.name)' is masked; nothing was changed. First run: systemctl --user unmask \(unit.name)")
            }
            replaced.append((file, try file.read(), unit.text))
        }
        for (file, old, text) in replaced { try file.replace(old, by: [UInt8](text.utf8), mode: 0o644) }
        return folder
    }
}
