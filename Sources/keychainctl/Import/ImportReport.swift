// SPDX-License-Identifier: Apache-2.0
// One line for each entry, written as soon as the entry is done: what was stored is known even if the tool is killed.

import Foundation
import KeychainAuthenticators
import KeychainKit

struct ImportReport {
    let isDryRun: Bool
    let isJSON: Bool

    private static let width = 15

    func write(_ record: ImportRecord, _ result: ImportResult, _ reason: String?) throws(KeychainError) {
        let line =
            isJSON
            ? try JSONOutput.line(Line(record: record, result: result, reason: reason, isDryRun: isDryRun))
            : text(record, result, reason)
        let done = isDryRun ? "Nothing was changed." : "The import stopped after this entry: \(record.origin)."
        try Output.write(line, after: done)
    }

    private func text(_ record: ImportRecord, _ result: ImportResult, _ reason: String?) -> String {
        let word = word(result)
        let padding = String(repeating: " ", count: max(1, Self.width - word.count))
        let name = record.name.map { "\($0) (\(record.origin))" } ?? record.origin
        return (word + padding + name + (reason.map { ": \($0)" } ?? "")).escapingControls() + "\n"
    }

    private func word(_ result: ImportResult) -> String {
        switch result {
        case .added: isDryRun ? "would add" : "added"
        case .replaced: isDryRun ? "would replace" : "replaced"
        case .kept: "exists (kept)"
        case .leftOut: "left out"
        case .unchanged, .skipped, .failed: result.rawValue
        }
    }

    /// The keys never change; all exist in every line.
    private struct Line: Encodable {
        let record: ImportRecord
        let result: ImportResult
        let reason: String?
        let isDryRun: Bool

        private enum Key: String, CodingKey {
            case result, dryRun, origin, reason, name, service, server, `protocol`, port, path, account
        }

        func encode(to encoder: any Encoder) throws {
            var object = encoder.container(keyedBy: Key.self)
            try object.encode(result.rawValue, forKey: .result)
            try object.encode(isDryRun, forKey: .dryRun)
            try object.encode(record.origin, forKey: .origin)
            try object.encode(reason, forKey: .reason)
            try object.encode(record.name, forKey: .name)
            let item: ImportedItem? = if case .item(let item) = record.content { item } else { nil }
            try object.encode(item?.service, forKey: .service)
            try object.encode(item?.server?.host, forKey: .server)
            try object.encode(item?.server?.protocol.map { ProtocolCode.name(of: $0.rawValue) }, forKey: .protocol)
            try object.encode(item?.server?.port, forKey: .port)
            try object.encode(item?.server?.path, forKey: .path)
            try object.encode(item?.account, forKey: .account)
        }
    }
}

extension ImportRecord {
    fileprivate var name: String? {
        switch content {
        case .item(let item): item.account.isEmpty ? item.place.text : "\(item.account) at \(item.place.text)"
        case .skipped(let name, _), .leftOut(let name, _): name
        }
    }
}

extension ImportedItem {
    fileprivate var service: String? { if case .service(let name) = place { name } else { nil } }
    fileprivate var server: SecretStore.Server? { if case .server(let server) = place { server } else { nil } }
}
