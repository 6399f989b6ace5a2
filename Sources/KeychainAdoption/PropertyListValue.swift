// SPDX-License-Identifier: Apache-2.0
// Values of property lists, as bytes of items.

import Foundation
import KeychainEngine
import KeychainKit

/// A property list value that can be encoded.
struct PropertyListValue: Encodable {
    private let value: Any

    init(_ value: Any) { self.value = value }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch value {
        case let values as [Any]: try container.encode(values.map { PropertyListValue($0) })
        case let values as [String: Any]: try container.encode(values.mapValues { PropertyListValue($0) })
        case let text as String: try container.encode(text)
        case let bytes as Data: try container.encode(bytes)
        case let date as Date: try container.encode(date)
        case let number as NSNumber where number.isTruthValue: try container.encode(number.boolValue)
        case let number as NSNumber where number.isInteger:
            guard let signed = Int64(exactly: number) else { return try container.encode(number.uint64Value) }
            try container.encode(signed)
        case let number as NSNumber: try container.encode(number.doubleValue)
        default:
            throw EncodingError.invalidValue(
                value,
                .init(codingPath: encoder.codingPath, debugDescription: "A property list cannot contain this value."))
        }
    }

    /// Text and bytes are taken as they are; other values are encoded by the coder.
    func bytes(_ coder: any SecretCoder) throws(KeychainError) -> Data {
        switch value {
        case let text as String: try coder.bytes(of: text)
        case let bytes as Data: bytes
        default: try coder.bytes(of: self)
        }
    }
}

extension NSNumber {
    fileprivate var isTruthValue: Bool { ["c", "B"].contains(String(cString: objCType)) }
    fileprivate var isInteger: Bool { !["f", "d"].contains(String(cString: objCType)) }
}
