// SPDX-License-Identifier: Apache-2.0
// The exports of 1Password: CSV, a .1pux archive, and the file export.data of one.

import Foundation
import KeychainKit

private struct OnePasswordExport: Decodable {
    struct Account: Decodable { var vaults: [Vault]? }
    struct Vault: Decodable { var items: [Item]? }

    struct Item: Decodable {
        var overview: Overview?
        var details: Details?
    }

    struct Overview: Decodable {
        struct Address: Decodable { var url: String? }

        var title: String?
        var url: String?
        var urls: [Address]?
    }

    struct Details: Decodable {
        struct LoginField: Decodable {
            var value: String?
            var designation: String?
        }

        struct Document: Decodable {}

        /// What is only counted.
        struct Former: Decodable {}
        struct Passkey: Decodable {}

        var loginFields: [LoginField]?
        var notesPlain: String?
        var password: String?
        var sections: [Section]?
        var documentAttributes: Document?
        var passwordHistory: [Former]?
        var passkey: Passkey?
    }

    struct Section: Decodable { var fields: [Field]? }

    struct Field: Decodable {
        var title: String?
        var value: [String: FieldValue]?
    }

    enum FieldValue: Decodable {
        case text(String)
        case none
        case other

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            if value.decodeNil() {
                self = .none
            } else {
                do { self = .text(try value.decode(String.self)) } catch { self = .other }
            }
        }
    }

    var accounts: [Account]?
}

enum OnePasswordFormat {
    private static let name = "export.data of a .1pux archive"

    static func records(_ bytes: UnsafeRawBufferPointer) throws(KeychainError) -> [ImportRecord] {
        if ZIPArchive.begins(bytes) { return try records(inArchive: bytes) }
        let first = bytes.first { $0 > 0x20 && ![0xEF, 0xBB, 0xBF].contains($0) }
        guard first == UInt8(ascii: "{") else { return try CSVFormat.onePassword.records(bytes) }
        return try records(ofData: bytes)
    }

    /// Nothing of the archive but this one member is read, and no name of a member becomes a path.
    private static func records(inArchive bytes: UnsafeRawBufferPointer) throws(KeychainError) -> [ImportRecord] {
        let archive = try ZIPArchive(bytes, format: "a .1pux archive")
        var data = try archive.member("export.data", limit: ImportLimits.file)
        // The result is kept outside, since `withUnsafeBytes` of Data throws no typed errors.
        let result = data.withUnsafeBytes { bytes in
            Result { () throws(KeychainError) in try records(ofData: bytes) }
        }
        data.wipe()
        let others = try archive.countOfFiles(besides: ["export.data", "export.attributes"])
        let missing = ImportRecord(leavingOut: nil, "\(others) other file(s) are not imported", origin: "the archive")
        return try result.get() + (others > 0 ? [missing] : [])
    }

    private static func records(ofData bytes: UnsafeRawBufferPointer) throws(KeychainError) -> [ImportRecord] {
        let export = try JSONDocument.decode(OnePasswordExport.self, bytes, name)
        guard let accounts = export.accounts else { throw .notA(name, "it has no 'accounts'.") }
        let items = accounts.flatMap { $0.vaults ?? [] }.flatMap { $0.items ?? [] }
        guard items.count <= ImportLimits.entries else { throw .tooManyEntries }
        return items.enumerated().flatMap { records($1, origin: "entry \($0 + 1)") }
    }

    private static func records(_ item: OnePasswordExport.Item, origin: String) -> [ImportRecord] {
        var login = ImportedLogin(origin: origin)
        login.title = item.overview?.title ?? ""
        login.addresses = addresses(item.overview)
        let fields = item.details?.loginFields ?? []
        login.account = fields.first { $0.designation == "username" }?.value ?? ""
        // An entry may have a password of its own beside that of a web form, which may be empty.
        let passwords = [fields.first { $0.designation == "password" }?.value, item.details?.password]
            .compactMap { $0 }.filter { !$0.isEmpty }
        login.password = Data((passwords.first ?? "").utf8)
        if passwords.first != passwords.last { login.add("other password", passwords.last) }
        login.add("notes", item.details?.notesPlain)
        for field in item.details?.sections?.flatMap({ $0.fields ?? [] }) ?? [] { add(field, to: &login) }
        let former = item.details?.passwordHistory?.count ?? 0
        if former > 0 { login.leftOut.append("its \(former) former value(s) are not imported") }
        if item.details?.passkey != nil { login.leftOut.append("its passkey is not imported") }
        let others = countOfOthers(fields)
        if others > 0 { login.leftOut.append("\(others) other field(s) of the web form are not imported") }
        if item.details?.documentAttributes != nil { login.unsupported.append("its file is not imported") }
        return login.records
    }

    /// Fields that are neither the user name nor the password: further inputs of the page that was saved.
    private static func countOfOthers(_ fields: [OnePasswordExport.Details.LoginField]) -> Int {
        let named = ["username", "password"].compactMap { name in fields.firstIndex { $0.designation == name } }
        return fields.indices.count { fields[$0].value?.isEmpty == false && !named.contains($0) }
    }

    private static func addresses(_ overview: OnePasswordExport.Overview?) -> [String] {
        let first = overview?.url ?? ""
        let others = overview?.urls?.compactMap(\.url).filter { $0 != first } ?? []
        return first.isEmpty ? others : [first] + others
    }

    private static func add(_ field: OnePasswordExport.Field, to login: inout ImportedLogin) {
        // In an order that is the same each time.
        for (kind, value) in (field.value ?? [:]).sorted(by: { $0.key < $1.key }) {
            switch value {
            case .text(let text):
                login.add(kind == "totp" ? "one-time password" : "field \(field.title ?? "")", text)
            case .none: break
            case .other: login.unsupported.append("a field that is not text is not imported")
            }
        }
    }
}
