// SPDX-License-Identifier: Apache-2.0
// security find-key: the blocks of all keys that match.

import Foundation
import KeychainEngine
import KeychainKit

enum FindKey {
    private static let classes: [String: Int64] = ["public": 0, "private": 1, "symmetric": 2]

    /// The flags that ask for a use of the key.
    private static let uses: [(letter: Unicode.Scalar, attribute: Attribute)] = [
        ("d", .canDecrypt), ("e", .canEncrypt), ("r", .canDerive), ("s", .canSign), ("u", .canUnwrap),
        ("v", .canVerify), ("w", .canWrap),
    ]

    static func find(_ call: SecurityCall) throws(SecurityFailure) {
        let options = try call.options("a:c:dD:ej:l:rst:uvw")
        guard options["t"].map({ classes[$0] != nil }) ?? true else { throw .usage() }
        try endingWithOne { () throws(SecurityFailure) in
            let all = try call.everything([.key], in: call.searched(options.words))
            let found = all.filter { matches($0.item, options) }
            guard !found.isEmpty else { throw SecurityFailure("SecItemCopyMatching", SecurityStatus.itemNotFound) }
            try naming("write") { () throws(KeychainError) in
                try Output.write(found.map(\.block.text).joined())
            }
        }
    }

    private static func matches(_ item: KeychainItem, _ options: SecurityOptions) -> Bool {
        let texts: [(letter: Unicode.Scalar, attribute: Attribute)] = [
            ("c", .creator), ("D", .itemDescription), ("j", .comment), ("l", .label),
        ]
        return texts.allSatisfy { text in
            options[text.letter].map { item.attributes[text.attribute] == .string($0) } ?? true
        }
            && uses.allSatisfy { use in !options.has(use.letter) || item.attributes[use.attribute] == .number(1) }
            && (options["t"].map { item.attributes[.keyClass] == classes[$0].map { .number($0) } } ?? true)
            && (options["a"].map { hasApplicationLabel(item, $0) } ?? true)
    }

    /// - Parameter text: The label itself or its hexadecimal digits, since it is a hash in most keys.
    private static func hasApplicationLabel(_ item: KeychainItem, _ text: String) -> Bool {
        guard case .data(let label)? = item.attributes[.applicationLabel] else { return false }
        return label == Data(text.utf8) || ValueForm.hexadecimal(label) == text.uppercased()
    }
}
