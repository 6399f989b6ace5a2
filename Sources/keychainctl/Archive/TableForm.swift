// SPDX-License-Identifier: Apache-2.0
// An export as a table (CSV, RFC 4180), in clear text.

import Foundation
import KeychainEngine
import KeychainKit

/// For other programs. It has the usual attributes and the value of each item, not everything.
struct TableForm: ArchiveForm {
    private static let columns = [
        "class", "service", "server", "protocol", "port", "path", "account", "label", "comment", "group",
        "accessibility", "synchronizable", "created", "modified", "encoding", "value",
    ]

    private let sink: any ByteSink

    init(_ sink: any ByteSink) { self.sink = sink }

    mutating func begin(_: Int) throws(KeychainError) { try put(Self.columns) }

    mutating func add(_ item: Item) throws(KeychainError) {
        let known = KeychainItem(StoredItem(id: UUID(), version: 0, item: item))
        let listed = ListedItem(item: known)
        var value = Self.text(item.value)
        defer { value.content.wipe() }
        try put([
            listed.itemClass.name, listed.service, listed.server, listed.protocolName, listed.port.map { String($0) },
            listed.path, listed.account, listed.label, known.comment, listed.accessGroup, listed.accessibility,
            String(listed.isSynchronizable), listed.created?.timestamp(withFraction: true),
            listed.modified?.timestamp(withFraction: true), value.encoding, value.content,
        ])
    }

    mutating func end() throws(KeychainError) { try sink.finish() }

    /// The value as text if it is text, otherwise as base64.
    private static func text(_ value: Data?) -> (encoding: String, content: String) {
        guard let value else { return ("none", "") }
        if let text = String(validating: value, as: UTF8.self) { return ("text", text) }
        return ("base64", value.base64EncodedString())
    }

    private func put(_ cells: [String?]) throws(KeychainError) {
        var row = Data()
        defer { row.wipe() }
        for (index, cell) in cells.enumerated() {
            if index > 0 { row.append(UInt8(ascii: ",")) }
            Self.append(cell ?? "", to: &row)
        }
        row.append(contentsOf: "\r\n".utf8)
        try sink.write(row)
    }

    /// In quotation marks if it has to be.
    private static func append(_ cell: String, to row: inout Data) {
        let special: Set<UInt8> = [UInt8(ascii: ","), UInt8(ascii: "\""), UInt8(ascii: "\r"), UInt8(ascii: "\n")]
        let isPlain =
            !cell.utf8.contains { special.contains($0) } && cell.utf8.first != UInt8(ascii: " ")
            && cell.utf8.last != UInt8(ascii: " ")
        if isPlain { return row.append(contentsOf: cell.utf8) }
        row.append(UInt8(ascii: "\""))
        for byte in cell.utf8 {
            if byte == UInt8(ascii: "\"") { row.append(byte) }
            row.append(byte)
        }
        row.append(UInt8(ascii: "\""))
    }
}
