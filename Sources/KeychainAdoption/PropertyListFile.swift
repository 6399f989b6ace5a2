// SPDX-License-Identifier: Apache-2.0
// A property list as a source.

public import Foundation
public import KeychainEngine

/// A property list in a file, with a dictionary at its root.
///
/// ```swift
/// try store.adopt(["apiToken": "alice"], from: PropertyListFile(url))
/// ```
///
/// Does not protect against someone who can read the disk blocks that the old file used.
public struct PropertyListFile: PlaintextSource, Sendable {
    public let url: URL

    public init(_ url: URL) { self.url = url }

    public func propertyListValue(forKey key: String) throws(KeychainError) -> Any? { try content().values[key] }

    public func removeValues(forKeys keys: [String]) throws(KeychainError) {
        var (values, format) = try content()
        for key in keys { values[key] = nil }
        do {
            // Foundation can read the oldest format, but crashes when it writes it.
            let format = format == .openStep ? PropertyListSerialization.PropertyListFormat.xml : format
            let bytes = try PropertyListSerialization.data(fromPropertyList: values, format: format, options: 0)
            try replaceFile(by: bytes)
        } catch {
            throw KeychainError(
                .inputOutput,
                "The values are in the keychain now, but could not be removed from '\(url.path)'. Make it writable "
                    + "and try again.")
        }
    }

    /// Replaces the file atomically and keeps its permissions: other users must not be able to read what it still
    /// contains.
    private func replaceFile(by bytes: Data) throws {
        // The target of a symbolic link is replaced, not the link. Otherwise the values would stay in the target.
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
            // Keep the file open: its descriptor number could be reused once it is closed.
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
            // The parser's message may quote the content.
        }
        throw notAList
    }

    private var notAList: KeychainError {
        KeychainError(.undecodableInput, "'\(url.path)' is not a property list with a dictionary at its root.")
    }
}
