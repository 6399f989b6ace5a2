// SPDX-License-Identifier: Apache-2.0
// Converts the bytes of a secret to the requested type.

#if Configuration
    import Configuration
    import Foundation
    import KeychainKit

    struct SecretConversion: Sendable {
        let separator: Character

        /// - Parameter secret: `nil` if there is none.
        func result(
            _ account: String, _ secret: SecretValue?, _ type: ConfigType
        ) throws(KeychainError) -> LookupResult {
            guard let secret else { return LookupResult(encodedKey: account, value: nil) }
            guard let content = content(secret, type) else { throw .notConvertible(to: type) }
            return LookupResult(encodedKey: account, value: ConfigValue(content, isSecret: true))
        }

        private func content(_ secret: SecretValue, _ type: ConfigType) -> ConfigContent? {
            if type == .bytes { return .bytes(secret.withUnsafeBytes { [UInt8]($0) }) }
            guard let text = secret.revealedText() else { return nil }
            return type.isArray ? array(text, type) : single(text, type)
        }

        /// Text keeps its spaces. For all other types, surrounding spaces are ignored.
        private func single(_ text: String, _ type: ConfigType) -> ConfigContent? {
            switch type {
            case .string: .string(text)
            case .int: Int(trimmed(text)).map { .int($0) }
            case .double: Double(trimmed(text)).map { .double($0) }
            case .bool: bool(trimmed(text)).map { .bool($0) }
            default: nil
            }
        }

        private func array(_ text: String, _ type: ConfigType) -> ConfigContent? {
            switch type {
            case .stringArray: elements(text) { $0 }.map { .stringArray($0) }
            case .intArray: elements(text) { Int($0) }.map { .intArray($0) }
            case .doubleArray: elements(text) { Double($0) }.map { .doubleArray($0) }
            case .boolArray: elements(text, bool).map { .boolArray($0) }
            case .byteChunkArray:
                elements(text) { Data(base64Encoded: $0) }.map { .byteChunkArray($0.map { [UInt8]($0) }) }
            default: nil
            }
        }

        /// The same words as in environment variables, so that a value can move from there.
        private func bool(_ text: String) -> Bool? {
            switch text.lowercased() {
            case "true", "yes", "1": true
            case "false", "no", "0": false
            default: nil
            }
        }

        // MARK: - Elements

        private func elements<Element: Decodable>(_ text: String, _ element: (String) -> Element?) -> [Element]? {
            let text = trimmed(text)
            if text.hasPrefix("[") { return json(text) }
            let texts = text.split(separator: separator).map { trimmed(String($0)) }
            let elements = texts.compactMap(element)
            return elements.count == texts.count ? elements : nil
        }

        private func json<Element: Decodable>(_ text: String) -> [Element]? {
            do {
                return try JSONDecoder().decode([Element].self, fromAny: Data(text.utf8))
            } catch {
                return nil  // The caller throws; the decoder's own message may quote the value.
            }
        }

        private func trimmed(_ text: String) -> String { text.trimmingCharacters(in: .whitespacesAndNewlines) }
    }

    extension ConfigType {
        fileprivate var isArray: Bool {
            switch self {
            case .stringArray, .intArray, .doubleArray, .boolArray, .byteChunkArray: true
            case .string, .int, .double, .bool, .bytes: false
            }
        }
    }

    extension KeychainError {
        fileprivate static func notConvertible(to type: ConfigType) -> KeychainError {
            KeychainError(
                .typeMismatch,
                "The item's value is not of type \(type.rawValue). Ask for another type.")
        }
    }
#endif
