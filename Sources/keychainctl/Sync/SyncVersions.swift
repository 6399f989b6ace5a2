// SPDX-License-Identifier: Apache-2.0
// Output of the commands on values that are not shown.

import Foundation
import KeychainAuthenticators
import KeychainCrypto
import KeychainEngine
import KeychainKit
import KeychainSync
import SecretMemory

extension SyncWords {
    static func text(_ versions: [ItemVersion]) -> String {
        let rows = versions.map { version in
            [
                version.id, version.stateText, version.place ?? "-", version.text(of: .account) ?? "-",
                version.machine.escapingControls(), version.date ?? "-",
            ].map { $0.escapingControls() }
        }
        let table = TextTable(
            header: ["ID", "STATE", "SERVICE OR SERVER", "ACCOUNT", "MACHINE", "WRITTEN"], rows: rows,
            cut: ["SERVICE OR SERVER", "ACCOUNT", "MACHINE"])
        return table.text(within: Output.columns)
    }

    /// - Throws: `undecodableInput` if the text is none of a recovery key.
    static func recoveryKey(from descriptor: Int32) throws(KeychainError) -> SecretBytes {
        guard case .key(let key) = RecoveryKey.read(try SecretInput.read(descriptor)) else {
            throw KeychainError(
                .undecodableInput,
                "The recovery key is not valid or is mistyped. A recovery key has 56 letters and digits.")
        }
        return key
    }
}

extension ItemVersion {
    fileprivate var stateText: String {
        switch state {
        case .shown: "shown"
        case .concurrent: "concurrent"
        case .kept: "kept"
        }
    }

    fileprivate var place: String? { text(of: .service) ?? text(of: .server) }

    fileprivate var date: String? { Self.date(time) }

    fileprivate var until: String? { if case .kept(let until) = state { Self.date(until) } else { nil } }

    private static func date(_ milliseconds: UInt64) -> String? {
        Date(timeIntervalSince1970: Double(milliseconds) / 1000).timestamp(withFraction: false)
    }

    fileprivate func text(of attribute: Attribute) -> String? {
        guard case .string(let text)? = item?.attributes[attribute] else { return nil }
        return text
    }
}

/// A value in `sync conflicts --json` and `sync history --json`. Every key exists; the value is `null` if there is none.
struct VersionJSON: Encodable {
    private let version: ItemVersion

    init(_ version: ItemVersion) { self.version = version }

    private enum Key: String, CodingKey {
        case id, state, until, machine, time, `class`, service, server, account, group
    }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(version.id, forKey: .id)
        try object.encode(version.stateText, forKey: .state)
        try object.encode(version.until, forKey: .until)
        try object.encode(version.machine, forKey: .machine)
        try object.encode(version.date, forKey: .time)
        try object.encode(version.item?.itemClass.name, forKey: .class)
        try object.encode(version.text(of: .service), forKey: .service)
        try object.encode(version.text(of: .server), forKey: .server)
        try object.encode(version.text(of: .account), forKey: .account)
        try object.encode(version.text(of: .accessGroup), forKey: .group)
    }
}
