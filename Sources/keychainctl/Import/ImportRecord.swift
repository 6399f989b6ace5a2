// SPDX-License-Identifier: Apache-2.0
// What the readers of other programs' files return: items to store, and entries that no item can be made of.

import Foundation
import KeychainKit

/// The part of an item's name before the account.
enum ImportedPlace {
    case service(String)
    case server(SecretStore.Server)

    /// For the report.
    var text: String {
        switch self {
        case .service(let name): name
        case .server(let server): server.text
        }
    }

    fileprivate var names: [String] {
        switch self {
        case .service(let name): [name]
        case .server(let server):
            [server.host, server.path, server.securityDomain, server.protocol?.rawValue].compactMap { $0 }
        }
    }
}

extension SecretStore.Server {
    /// An address, as `list` shows it.
    var text: String {
        let scheme = `protocol`.map { ProtocolCode.name(of: $0.rawValue) + "://" } ?? ""
        let isIPv6 = host.utf8.contains(UInt8(ascii: ":"))
        return scheme + (isIPv6 ? "[\(host)]" : host) + (port.map { ":\($0)" } ?? "") + (path ?? "")
    }
}

struct ImportedItem {
    let place: ImportedPlace
    let account: String
    var value: Data
    var label: String?
    var comment: String?
    /// The kind of item, as text for the user.
    var kind: String?
    /// Data of a program.
    var generic: Data?
    /// Whether the protocol is not from the source. An item without one is then the same entry.
    var isProtocolAssumed = false

    /// Why it cannot be stored; `nil` if it can.
    fileprivate var problem: String? {
        let names = place.names + [account, label, comment].compactMap { $0 }
        if names.contains(where: { $0.utf8.contains(0) }) { return "a name contains a zero byte" }
        if names.contains(where: { $0.utf8.count > ImportLimits.field }) { return "a name is longer than 1 MiB" }
        return max(value.count, generic?.count ?? 0) > ImportLimits.field ? "the value is longer than 1 MiB" : nil
    }
}

struct ImportRecord {
    enum Content {
        case item(ImportedItem)
        /// - Parameter name: `nil` if the entry has none.
        case skipped(name: String?, reason: String)
        /// A part that an import never takes, such as a former value. It is no failure.
        case leftOut(name: String?, reason: String)
    }

    /// Where in the source it comes from: "line 3".
    let origin: String
    var content: Content

    init(_ item: ImportedItem, origin: String) {
        self.origin = origin
        if let problem = item.problem {
            content = .skipped(name: nil, reason: problem)
        } else {
            content = .item(item)
        }
    }

    init(skipping name: String?, _ reason: String, origin: String) {
        self.origin = origin
        content = .skipped(name: name, reason: reason)
    }

    init(leavingOut name: String?, _ reason: String, origin: String) {
        self.origin = origin
        content = .leftOut(name: name, reason: reason)
    }
}

/// What no honest file exceeds. Larger input is refused before it takes memory or time.
enum ImportLimits {
    static let file = 64 << 20
    static let line = 1 << 20
    static let field = 1 << 20
    static let entries = 100_000
    static let nesting = 64
}

extension KeychainError {
    /// - Parameter problem: A sentence that quotes nothing of the line, because it may be secret.
    static func unreadable(line: Int, _ problem: String) -> KeychainError {
        KeychainError(.invalidParameter, "Line \(line): \(problem) Nothing was imported.")
    }

    static func notA(_ format: String, _ problem: String) -> KeychainError {
        KeychainError(.invalidParameter, "This is not \(format): \(problem) Nothing was imported.")
    }

    static let tooManyEntries = KeychainError(
        .tooLarge, "The source has more than \(ImportLimits.entries) entries. Nothing was imported.")
}
