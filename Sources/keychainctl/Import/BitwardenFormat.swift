// SPDX-License-Identifier: Apache-2.0
// The unencrypted JSON export of Bitwarden.

import Foundation
import KeychainKit

private struct BitwardenExport: Decodable {
    struct Folder: Decodable {
        var id: String?
        var name: String?
    }

    struct Item: Decodable {
        struct Login: Decodable {
            struct Address: Decodable { var uri: String? }

            var uris: [Address]?
            var username: String?
            var password: String?
            var totp: String?
            var fido2Credentials: [Anything]?
        }

        /// What is only counted.
        struct Anything: Decodable {}

        struct Field: Decodable {
            var name: String?
            var value: String?
            var type: Int?

            /// A link is to another part of the entry.
            var isSwitchOrLink: Bool { type == 2 || type == 3 }
        }

        struct Key: Decodable { var privateKey: String? }

        var type: Int
        var name: String?
        var folderId: String?
        var notes: String?
        var login: Login?
        var fields: [Field]?
        var sshKey: Key?
        var passwordHistory: [Anything]?
    }

    var encrypted: Bool?
    var folders: [Folder]?
    var items: [Item]?
}

enum BitwardenFormat {
    private static let name = "an unencrypted JSON export of Bitwarden"

    static func records(_ bytes: UnsafeRawBufferPointer) throws(KeychainError) -> [ImportRecord] {
        // A column of the CSV export, which has no passwords of notes and keys.
        let firstLine = String(decoding: bytes.prefix(1024).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        let columns = firstLine.split { ",\"\r".contains($0) }
        guard firstLine.first == "{" || !columns.contains("login_password") else {
            throw .notA(name, "it is the CSV export. Export again in the format '.json'.")
        }
        let export = try JSONDocument.decode(BitwardenExport.self, bytes, name)
        guard export.encrypted != true else {
            throw .notA(name, "it is encrypted. Export again in the format '.json'.")
        }
        guard let items = export.items else { throw .notA(name, "it has no 'items'.") }
        guard items.count <= ImportLimits.entries else { throw .tooManyEntries }
        let named = (export.folders ?? []).compactMap { folder in folder.id.map { ($0, folder.name ?? "") } }
        let folders = Dictionary(named) { first, _ in first }
        return items.enumerated().flatMap { index, item in
            records(item, in: folders[item.folderId ?? ""] ?? "", origin: "entry \(index + 1)")
        }
    }

    private static func records(_ item: BitwardenExport.Item, in folder: String, origin: String) -> [ImportRecord] {
        var login = ImportedLogin(origin: origin)
        login.title = item.name ?? ""
        login.group = folder
        login.addresses = item.login?.uris?.compactMap(\.uri) ?? []
        login.account = item.login?.username ?? ""
        login.password = Data((item.login?.password ?? "").utf8)
        login.add("one-time password", item.login?.totp)
        login.add("private key", item.sshKey?.privateKey)
        login.add("notes", item.notes)
        let fields = item.fields ?? []
        for field in fields where !field.isSwitchOrLink { login.add("field \(field.name ?? "")", field.value) }
        let others = fields.count(where: \.isSwitchOrLink)
        if others > 0 { login.leftOut.append("its \(others) field(s) that are switches or links are not imported") }
        let passkeys = item.login?.fido2Credentials?.count ?? 0
        if passkeys > 0 { login.leftOut.append("its \(passkeys) passkey(s) are not imported") }
        let former = item.passwordHistory?.count ?? 0
        if former > 0 { login.leftOut.append("its \(former) former value(s) are not imported") }
        if let kind = kindWithoutImport(item.type) { login.unsupported.append("\(kind) is not imported") }
        return login.records
    }

    /// - Returns: `nil` for a login, a note and an SSH key.
    private static func kindWithoutImport(_ type: Int) -> String? {
        switch type {
        case 1, 2, 5: nil
        case 3: "a payment card"
        case 4: "an identity"
        default: "an entry of this kind"
        }
    }
}
