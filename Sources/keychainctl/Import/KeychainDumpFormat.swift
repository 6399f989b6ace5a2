// SPDX-License-Identifier: Apache-2.0
// The output of macOS's `security dump-keychain -d`.

import Foundation
import KeychainKit

struct KeychainDumpFormat {
    private static let name = "an output of security dump-keychain"

    private var records: [ImportRecord] = []
    private var item: DumpItem?
    private var isDataNext = false

    static func records(_ bytes: UnsafeRawBufferPointer) throws(KeychainError) -> [ImportRecord] {
        var format = KeychainDumpFormat()
        for line in try ImportText.lines(bytes) { try format.read(line) }
        guard !format.isDataNext else { throw .notA(name, "it ends after 'data:'. The file may be cut.") }
        format.finish()
        return format.records
    }

    private mutating func read(_ line: ImportLine) throws(KeychainError) {
        if isDataNext {
            isDataNext = false
            item?.data = try Self.value(line.bytes, line.number)
        } else if line.bytes.starts(with: "keychain: ".utf8) {
            finish()
            item = DumpItem(line: line.number)
            guard records.count <= ImportLimits.entries else { throw .tooManyEntries }
        } else if item == nil {
            guard line.bytes.trimmed.isEmpty else {
                throw .notA(Self.name, "line \(line.number) is not the beginning of an item.")
            }
        } else if line.bytes.starts(with: "class: ".utf8) {
            guard item?.itemClass.isEmpty == true else {
                throw .unreadable(line: line.number, "The item has a second class.")
            }
            item?.itemClass = String(decoding: line.bytes.dropFirst(7).trimmed, as: UTF8.self)
        } else if line.bytes.starts(with: "data:".utf8) {
            guard item?.data == nil else { throw .unreadable(line: line.number, "The item has a second value.") }
            isDataNext = true
        } else if line.bytes.starts(with: "    ".utf8) {
            try readAttribute(line)
        }
    }

    /// `    "acct"<blob>="alice"`, or `    0x00000007 <blob>="Label"`. Lines about access lists look otherwise.
    private mutating func readAttribute(_ line: ImportLine) throws(KeychainError) {
        let rest = line.bytes.dropFirst(4)
        guard rest.first == UInt8(ascii: "\"") || rest.first == UInt8(ascii: "0") else { return }
        guard let open = rest.firstIndex(of: UInt8(ascii: "<")),
            let close = rest[open...].firstIndex(of: UInt8(ascii: ">")),
            rest[close...].dropFirst().first == UInt8(ascii: "=")
        else { return }
        let tag = String(decoding: rest[..<open].trimmed.filter { $0 != UInt8(ascii: "\"") }, as: UTF8.self)
        guard item?.tags.insert(tag).inserted != false else {
            throw .unreadable(line: line.number, "The item has an attribute twice.")
        }
        item?.attributes[tag] = try Self.value(rest[close...].dropFirst(2), line.number)
    }

    /// - Returns: `nil` for `<NULL>`.
    private static func value(_ text: Slice<UnsafeRawBufferPointer>, _ line: Int) throws(KeychainError) -> Data? {
        let text = text.trimmed
        if text.elementsEqual("<NULL>".utf8) { return nil }
        if text.isEmpty { return Data() }
        if text.first == UInt8(ascii: "\""), text.count > 1, text.last == UInt8(ascii: "\"") {
            return Data(text.dropFirst().dropLast())
        }
        guard text.starts(with: "0x".utf8) else { throw .unreadable(line: line, "The value has an unknown form.") }
        let digits = text.dropFirst(2).prefix { $0 != UInt8(ascii: " ") }
        guard digits.count.isMultiple(of: 2) else { throw .unreadable(line: line, "The value is cut.") }
        var (bytes, rest) = (Data(capacity: digits.count / 2), digits)
        while let high = rest.popFirst()?.hexadecimalDigit, let low = rest.popFirst()?.hexadecimalDigit {
            bytes.append(high << 4 | low)
        }
        guard bytes.count == digits.count / 2 else { throw .unreadable(line: line, "The value is not hexadecimal.") }
        return bytes
    }

    // MARK: - An item

    private mutating func finish() {
        guard let item else { return }
        self.item = nil
        records += Self.records(item)
    }

    /// - Returns: What is left out of the item follows it.
    private static func records(_ item: DumpItem) -> [ImportRecord] {
        let (record, name) = (record(item), item.text("0x00000007") ?? item.place?.text)
        guard case .item = record.content else { return [record] }
        return [record]
            + item.leftOut.map { ImportRecord(leavingOut: name, "its \($0) not imported", origin: record.origin) }
    }

    private static func record(_ item: DumpItem) -> ImportRecord {
        let origin = "line \(item.line)"
        guard !item.itemClass.isEmpty else {
            return ImportRecord(skipping: nil, "it has no class; the file may be cut", origin: origin)
        }
        guard item.isPassword else {
            let reason = "it is not a password; export keys and certificates with: security export"
            return ImportRecord(skipping: item.text("0x00000007"), reason, origin: origin)
        }
        guard let place = item.place, item.isNameReadable else {
            let reason = "a part of its name is missing, not text, or no number of a port"
            return ImportRecord(skipping: item.text("0x00000007"), reason, origin: origin)
        }
        let account = item.text("acct") ?? ""
        // An empty value is a value. An item whose value was not shown has none.
        guard let data = item.data else {
            return ImportRecord(skipping: place.text, "it has no data; dump with -d and allow access", origin: origin)
        }
        let imported = ImportedItem(
            place: place, account: account, value: data, label: item.text("0x00000007"), comment: item.text("icmt"),
            kind: item.text("desc"), generic: item.isInternetPassword ? nil : item.attributes["gena"])
        return ImportRecord(imported, origin: origin)
    }
}

private struct DumpItem {
    let line: Int
    var itemClass = ""
    /// Also those without a value.
    var tags: Set<String> = []
    var attributes: [String: Data] = [:]
    var data: Data?
}

extension DumpItem {
    fileprivate var isPassword: Bool { ["\"genp\"", "\"inet\""].contains(itemClass) }

    fileprivate var isInternetPassword: Bool { itemClass == "\"inet\"" }

    /// Whether no part of its name would be lost.
    fileprivate var isNameReadable: Bool {
        let hasProtocol = attributes["ptcl"]?.allSatisfy { $0 == 0 } != false || code("ptcl") != nil
        let hasPort = attributes["port"]?.dropLast(2).allSatisfy { $0 == 0 } != false
        let texts = ["acct", "svce", "srvr", "path", "sdmn", "atyp"]
        return hasProtocol && hasPort && texts.allSatisfy { attributes[$0] == nil || text($0) != nil }
    }

    /// Which attributes no item is made of. Dates, icons and the like are no secrets.
    fileprivate var leftOut: [String] {
        let names = ["0x00000007": "label", "icmt": "comment", "desc": "kind"]
        let unreadable = names.filter { attributes[$0.key] != nil && text($0.key) == nil }.values.sorted()
        let read: Set<String> = [
            "0x00000007", "acct", "svce", "srvr", "path", "sdmn", "atyp", "port", "ptcl", "icmt", "desc",
            "cdat", "mdat", "cusi", isInternetPassword ? "" : "gena",
        ]
        let others = attributes.filter { !read.contains($0.key) && !$0.value.allSatisfy { $0 == 0 } }.count
        return unreadable.map { "\($0) is not text, and is" } + (others > 0 ? ["\(others) other attribute(s) are"] : [])
    }

    /// - Returns: `nil` if there is none or it is not text.
    fileprivate func text(_ tag: String) -> String? {
        attributes[tag].flatMap { String(validating: $0, as: UTF8.self) }
    }

    fileprivate var place: ImportedPlace? {
        guard isInternetPassword else { return text("svce").map { .service($0) } }
        guard let host = text("srvr") else { return nil }
        let port = attributes["port"]?.reduce(0) { ($0 << 8 | Int($1)) & 0xFFFF }
        let code = code("ptcl").flatMap { InternetProtocol(rawValue: $0) }
        return .server(
            SecretStore.Server(
                host, protocol: code, port: port == 0 ? nil : port, path: notEmpty("path"),
                securityDomain: notEmpty("sdmn"),
                authenticationType: authenticationType))
    }

    /// macOS shows `dflt` where other programs have no type, and so does `security` here. As a type it would make a second item.
    private var authenticationType: InternetAuthentication? {
        guard let type = notEmpty("atyp"), type != "dflt" else { return nil }
        return InternetAuthentication(rawValue: type)
    }

    private func notEmpty(_ tag: String) -> String? { text(tag).flatMap { $0.isEmpty ? nil : $0 } }

    /// Four characters; all zero means none.
    private func code(_ tag: String) -> String? {
        guard let bytes = attributes[tag], bytes.count == 4, bytes.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            return nil
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
