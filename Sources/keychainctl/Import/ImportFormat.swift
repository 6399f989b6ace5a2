// SPDX-License-Identifier: Apache-2.0
// The formats of `import`, where each one's file usually is, and which reader it has.

import ArgumentParser
import Foundation
import KeychainKit

enum ImportFormat: String, CaseIterable, ExpressibleByArgument {
    case netrc
    case gitCredentials = "git-credentials"
    case docker
    case env
    case pass
    case gopass
    case keepassxc
    case bitwarden
    case onePassword = "1password"
    case firefox
    case chrome
    case keychainDump = "keychain-dump"
    case secretService = "secret-service"

    /// Whether it is a folder of encrypted files.
    var isStore: Bool { self == .pass || self == .gopass }

    /// Whether everything in the file becomes an item, is reported, or is an error. The exports of other programs also have
    /// passkeys, former passwords and columns that no item is made of.
    var isRemovable: Bool { [.netrc, .gitCredentials, .env].contains(self) }

    /// Whether also an export without entries has a text.
    fileprivate var isNeverEmpty: Bool {
        [.keepassxc, .bitwarden, .onePassword, .firefox, .chrome, .docker, .keychainDump].contains(self)
    }

    private var meaning: String {
        switch self {
        case .netrc: "machines and logins; default: $NETRC, ~/.netrc"
        case .gitCredentials: "git-credential-store; default: ~/.git-credentials"
        case .docker: "logins in docker's config.json; default: ~/.docker/config.json"
        case .env: "NAME=VALUE lines; default: .env"
        case .pass: "default: $PASSWORD_STORE_DIR, ~/.password-store; needs gpg"
        case .gopass: "stores with gpg; default: ~/.local/share/gopass/stores/root"
        case .keepassxc: "XML or CSV export"
        case .bitwarden: "unencrypted JSON export"
        case .onePassword: "a .1pux archive, its export.data, or CSV export"
        case .firefox: "CSV export"
        case .chrome: "CSV export of Chrome, Chromium, Edge or Brave"
        case .keychainDump: "security dump-keychain -d of macOS"
        case .secretService: "all unlocked collections on the session bus"
        }
    }

    /// The rows of the help.
    static var table: String {
        allCases.map { format in
            let padding = String(repeating: " ", count: 17 - format.rawValue.count)
            return "  " + format.rawValue + padding + format.meaning
        }.joined(separator: "\n")
    }

    /// - Returns: `nil` for a source that is not a file.
    /// - Throws: `invalidParameter` if the format has no usual file.
    func defaultPath(_ environment: [String: String]) throws(KeychainError) -> String? {
        func path(_ variable: String?, _ name: String) throws(KeychainError) -> String {
            if let variable, let path = environment.value(variable) { return path }
            return try Self.home(environment, name)
        }
        switch self {
        case .netrc: return try path("NETRC", ".netrc")
        case .gitCredentials: return try path(nil, ".git-credentials")
        case .docker: return try path("DOCKER_CONFIG", ".docker") + "/config.json"
        case .env: return ".env"
        case .pass: return try path("PASSWORD_STORE_DIR", ".password-store")
        case .gopass:
            if let path = environment.value("PASSWORD_STORE_DIR") { return path }
            return try path("XDG_DATA_HOME", ".local/share") + "/gopass/stores/root"
        case .secretService: return nil
        case .keepassxc, .bitwarden, .onePassword, .firefox, .chrome, .keychainDump:
            throw KeychainError(
                .invalidParameter, "Give the file that was exported, or - for standard input. See --help.")
        }
    }

    private static func home(_ environment: [String: String], _ name: String) throws(KeychainError) -> String {
        guard let home = environment.value("HOME") else {
            throw KeychainError(.unavailable, "HOME is not set, so the usual file is not known. Give its path.")
        }
        return home + "/" + name
    }
}

struct ImportReader {
    let format: ImportFormat
    /// `nil` for standard input, or a source that is not a file.
    let path: String?
    let keepsWhole: Bool
    let service: String?
    /// Of entries of a netrc file that name none; `nil`: https.
    var protocolCode: ProtocolCode?

    /// The entries, and the file that they are from.
    func read() throws(KeychainError) -> ([ImportRecord], ImportSource?) {
        if format == .secretService { return (try SecretServiceImport.records(), nil) }
        if format.isStore {
            guard let path else {
                throw KeychainError(.invalidParameter, "A password store is a folder, and cannot be standard input.")
            }
            return (try PasswordStore.records(at: path, keepsWhole: keepsWhole), nil)
        }
        let service = format == .env ? try serviceOfVariables() : ""
        var source = try ImportSource(path)
        guard !source.bytes.isEmpty || !format.isNeverEmpty else {
            throw KeychainError(
                .invalidParameter,
                "'\(path ?? "standard input")' is empty. Nothing was imported. Give the file that was exported.")
        }
        // The result is kept outside, since `withUnsafeBytes` of Data throws no typed errors.
        let result = source.bytes.withUnsafeBytes { bytes in
            Result { () throws(KeychainError) in try records(bytes, service) }
        }
        source.wipe()
        let found = try result.get()
        guard found.count <= ImportLimits.entries else { throw .tooManyEntries }
        return (found, source)
    }

    func records(_ bytes: UnsafeRawBufferPointer, _ service: String) throws(KeychainError) -> [ImportRecord] {
        switch format {
        case .netrc:
            try NetrcFormat.records(
                bytes, protocol: protocolCode.map { InternetProtocol(rawValue: $0.code) } ?? .https)
        case .gitCredentials: try GitCredentialsFormat.records(bytes)
        case .docker: try DockerFormat.records(bytes)
        case .env: try EnvFormat.records(bytes, service: service)
        case .keepassxc: try KeePassFormat.records(bytes)
        case .bitwarden: try BitwardenFormat.records(bytes)
        case .onePassword: try OnePasswordFormat.records(bytes)
        case .firefox: try CSVFormat.firefox.records(bytes)
        case .chrome: try CSVFormat.chrome.records(bytes)
        case .keychainDump: try KeychainDumpFormat.records(bytes)
        case .pass, .gopass, .secretService: []
        }
    }

    /// The name of the folder of the file.
    private func serviceOfVariables() throws(KeychainError) -> String {
        if let service { return service }
        guard let path else {
            throw KeychainError(.invalidParameter, "Give --service: the variables have no folder to be named after.")
        }
        guard let resolved = realpath(path, nil) else { throw .archiveFile("open", path) }
        defer { free(resolved) }
        let parts = String(cString: resolved).split(separator: "/")
        guard let folder = parts.dropLast().last else {
            throw KeychainError(.invalidParameter, "Give --service: the file is in no folder with a name.")
        }
        return String(folder)
    }
}
