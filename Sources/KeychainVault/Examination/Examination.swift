// SPDX-License-Identifier: Apache-2.0
// Examining a vault from outside in, without changing anything: folders, files, database, keys.

import Foundation
import KeychainEngine

extension Vault {
    /// Looks for everything that may be wrong with a vault. It changes nothing, and works also if the vault is damaged,
    /// locked or missing. It creates no file, unless other processes keep writing the vault: then it reads like other
    /// readers, whose files SQLite creates. If that is impossible because this process cannot write the folder, this is
    /// the finding.
    ///
    /// ```swift
    /// for finding in Vault.examine(location) where finding.severity == .problem { report(finding.message) }
    /// ```
    ///
    /// Does not protect against an attacker who puts back the vault together with the state folder, after the machine
    /// was restarted.
    ///
    /// - Parameter progress: Called with the number of items that were examined so far.
    public static func examine(
        _ location: VaultLocation, _ settings: VaultSettings = VaultSettings(), progress: (Int) -> Void = { _ in }
    ) -> [Finding] {
        var examination = Examination(location: location, settings: settings)
        examination.run(progress)
        return examination.findings
    }
}

/// The state of one examination.
struct Examination {
    let location: VaultLocation
    let settings: VaultSettings
    private(set) var findings: [Finding] = []

    init(location: VaultLocation, settings: VaultSettings) {
        self.location = location
        self.settings = settings
    }

    mutating func run(_ progress: (Int) -> Void) {
        checkParents()
        let hasFolder = checkFolder()
        let deviceKey = checkDeviceKey()
        checkResidue()
        guard hasFolder else { return }
        let filesAreSafe = checkFiles()
        checkLockFile()
        checkLockHolder()
        if filesAreSafe { checkRemovedData() }
        checkReplaced()
        guard filesAreSafe, hasDatabase() else { return }
        findings += ContentExamination.findings(location, settings, deviceKey, progress)
    }

    mutating func note(_ check: String, _ severity: Finding.Severity, _ message: String) {
        findings.append(Finding(check, severity, message))
    }

    /// Runs a check that throws if something is wrong.
    mutating func check<Result>(
        _ name: String, _ body: () throws(KeychainError) -> Result
    ) -> Result? {
        do throws(KeychainError) {
            return try body()
        } catch {
            note(name, .problem, error.message)
            return nil
        }
    }

    // MARK: - Folders

    /// - Returns: Whether there is a folder that may be used.
    private mutating func checkFolder() -> Bool {
        let folder = location.folder
        guard let exists = check("vault-folder", { () throws(KeychainError) in try FileSafety.checkFolder(folder) })
        else { return false }
        guard exists else {
            note(
                "vault-folder", .ok,
                "There is no vault in '\(folder)' yet. The first write creates it. To create it now, run: keychainctl init"
            )
            return false
        }
        let isWritable = FileSafety.allows(W_OK, folder)
        note(
            "vault-folder", isWritable ? .ok : .warning,
            "'\(folder)' belongs to you and is closed to other users."
                + (isWritable ? "" : " It cannot be written; reading works.")
        )
        return true
    }

    private mutating func checkParents() {
        var isFine = true
        for folder in parents where !checkParent(folder) { isFine = false }
        if isFine { note("parent-folders", .ok, "Only you and root can change the parent folders.") }
    }

    /// The parents of the vault and of the device key, each once, up to the root.
    private var parents: [String] {
        var found: [String] = []
        for path in [location.folder, location.deviceKeyFile] {
            var folder = path
            repeat {
                folder = FileSafety.parent(of: folder)
                if !found.contains(folder) { found.append(folder) }
            } while folder != "/"
        }
        return found
    }

    private mutating func checkParent(_ folder: String) -> Bool {
        var status = stat()
        guard stat(folder, &status) == 0 else {
            guard errno != ENOENT else { return true }
            note("parent-folders", .problem, SystemFailure.failure("look at", folder).message)
            return false
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            note("parent-folders", .problem, "'\(folder)' is \(FileSafety.kind(status)), not a folder. Move it away.")
            return false
        }
        let sticky = status.st_mode & S_ISVTX != 0
        if status.st_mode & S_IWOTH != 0, !sticky {
            note("parent-folders", .problem, "'\(folder)' can be changed by every user. Run: chmod o-w '\(folder)'")
        } else if status.st_uid != geteuid(), status.st_uid != 0 {
            note(
                "parent-folders", .warning,
                "'\(folder)' belongs to user \(status.st_uid), who can replace its contents. "
                    + "Keep the vault and the device key in folders that belong to you.")
        } else if status.st_mode & S_IWGRP != 0, !sticky {
            note(
                "parent-folders", .warning,
                "'\(folder)' can be changed by group \(status.st_gid). Unless you are its only member, run: "
                    + "chmod g-w '\(folder)'")
        } else {
            return true
        }
        return false
    }
}
