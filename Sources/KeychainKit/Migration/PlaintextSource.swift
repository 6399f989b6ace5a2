// SPDX-License-Identifier: Apache-2.0
// Where programs keep secrets that should be in a keychain.

public import Foundation
public import KeychainEngine

/// Something that holds values by key, in the types of property lists, for everybody to read.
public protocol PlaintextSource {
    /// `nil`: there is no such key.
    func propertyListValue(forKey key: String) throws(KeychainError) -> Any?

    /// Takes keys away, so that they are gone when this returns.
    func removeValues(forKeys keys: [String]) throws(KeychainError)
}

extension UserDefaults: PlaintextSource {
    public func propertyListValue(forKey key: String) throws(KeychainError) -> Any? { object(forKey: key) }

    public func removeValues(forKeys keys: [String]) throws(KeychainError) {
        for key in keys { removeObject(forKey: key) }
        guard synchronize() else {
            throw KeychainError(
                .inputOutput,
                "The values are in the keychain now, and could not be taken out of the defaults. Try again.")
        }
    }
}

/// A property list in a file, with a dictionary at its root.
///
/// ```swift
/// try store.adopt(["apiToken": "alice"], from: PropertyListFile(url))
/// ```
///
/// Does not protect against who can read the blocks of the disk that the file had before.
public struct PropertyListFile: PlaintextSource, Sendable {
    public let url: URL

    public init(_ url: URL) { self.url = url }

    public func propertyListValue(forKey key: String) throws(KeychainError) -> Any? { try content().values[key] }

    public func removeValues(forKeys keys: [String]) throws(KeychainError) {
        var (values, format) = try content()
        for key in keys { values[key] = nil }
        do {
            // The oldest format can be read and no longer be written: Foundation would end the program.
            let format = format == .openStep ? PropertyListSerialization.PropertyListFormat.xml : format
            let bytes = try PropertyListSerialization.data(fromPropertyList: values, format: format, options: 0)
            try replaceFile(by: bytes)
        } catch {
            throw KeychainError(
                .inputOutput,
                "The values are in the keychain now, and '\(url.path)' could not be written without them. Make it writable "
                    + "and try again.")
        }
    }

    /// In one step, with the permissions that the file had: others must not get to read what it still holds.
    private func replaceFile(by bytes: Data) throws {
        // In the place of a link the values would stay in the file that it leads to.
        let path = url.resolvingSymlinksInPath().path
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        let mode = (attributes[.posixPermissions] as? NSNumber)?.uint32Value ?? 0o600
        let temporary = path + "." + UUID().uuidString
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw CocoaError(.fileWriteUnknown) }
        do {
            let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            try file.write(contentsOf: bytes)
            try file.synchronize()
            // Without its file the number may be that of another one.
            let hasMode = withExtendedLifetime(file) { fchmod(descriptor, mode_t(mode)) == 0 }
            guard hasMode, rename(temporary, path) == 0 else { throw CocoaError(.fileWriteUnknown) }
        } catch {
            unlink(temporary)
            throw error
        }
    }

    private func content() throws(KeychainError) -> (
        values: [String: Any], format: PropertyListSerialization.PropertyListFormat
    ) {
        let bytes: Data
        do {
            bytes = try Data(contentsOf: url)
        } catch {
            throw KeychainError(.unavailable, "'\(url.path)' cannot be read. Check that it is there and readable.")
        }
        guard BinaryPropertyList.isPlain(bytes) else { throw notAList }
        do {
            var format = PropertyListSerialization.PropertyListFormat.binary
            let root = try PropertyListSerialization.propertyList(from: bytes, format: &format)
            if let values = root as? [String: Any] { return (values, format) }
        } catch {
            // What the parser says of the place may quote the content.
        }
        throw notAList
    }

    private var notAList: KeychainError {
        KeychainError(.undecodableInput, "'\(url.path)' is not a property list with a dictionary at its root.")
    }
}

/// A value of a property list, for coders.
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
                value, .init(codingPath: encoder.codingPath, debugDescription: "This is not in a property list."))
        }
    }

    /// Text and bytes as they are, all else through the coder.
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
