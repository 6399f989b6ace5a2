// SPDX-License-Identifier: Apache-2.0
// JSON that another program may have written.

public import Foundation

extension JSONDecoder {
    /// Decodes JSON from any source. Foundation ends the process if the 513th bracket that opens is the last byte.
    package func decode<Value: Decodable>(_ type: Value.Type, fromAny bytes: Data) throws -> Value {
        // Zeros belong to the last character in UTF-16 and UTF-32.
        let last = bytes.last { $0 != 0 }
        guard last != UInt8(ascii: "["), last != UInt8(ascii: "{") else {
            throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "The JSON ends early."))
        }
        return try decode(type, from: bytes)
    }

    /// The same for the wrappers, which are a package of their own.
    @_spi(Wrappers) public func decode<Value: Decodable>(_ type: Value.Type, fromStored bytes: Data) throws -> Value {
        try decode(type, fromAny: bytes)
    }
}
