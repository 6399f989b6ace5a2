// SPDX-License-Identifier: Apache-2.0
// The names of an item for display, also where they are not text.

import Foundation
import KeychainEngine

extension KeychainItem {
    /// An attribute that is usually text. Any program may have set it to other bytes or to a number.
    public enum TextAttribute: Hashable, Sendable, CaseIterable {
        case account, service, server, path, securityDomain, label, comment, itemDescription
    }

    /// An attribute as text for display: text as it is, a number in digits, other bytes as `0x` and two hexadecimal
    /// digits each. `nil` if the item has no such attribute.
    ///
    /// ```swift
    /// let name = item.displayText(of: .account) ?? "-"
    /// ```
    ///
    /// The text may contain control characters. Escape them before you print it to a terminal.
    public func displayText(of attribute: TextAttribute) -> String? {
        switch attributes[attribute.engineAttribute] {
        case .string(let text): text
        case .data(let bytes): String(validating: bytes, as: UTF8.self) ?? bytes.hexadecimal
        case .number(let number): String(number)
        case .date, .bool, .unsupported, nil: nil
        }
    }
}

extension KeychainItem.TextAttribute {
    fileprivate var engineAttribute: Attribute {
        switch self {
        case .account: .account
        case .service: .service
        case .server: .server
        case .path: .path
        case .securityDomain: .securityDomain
        case .label: .label
        case .comment: .comment
        case .itemDescription: .itemDescription
        }
    }
}

extension Data {
    fileprivate var hexadecimal: String {
        reduce(into: "0x") { $0 += ($1 < 0x10 ? "0" : "") + String($1, radix: 16) }
    }
}
