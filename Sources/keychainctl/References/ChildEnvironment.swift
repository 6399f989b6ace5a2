// SPDX-License-Identifier: Apache-2.0
// The environment of a command that `run` starts: variables with references get the values.

import Foundation
import KeychainKit
import SecretMemory

struct ChildEnvironment {
    private enum Content {
        case bytes([UInt8])
        /// An entry without `=`, which is passed on as it is.
        case nothing
        case reference(SecretReference, place: String)
    }

    private var entries: [(name: [UInt8], content: Content)] = []

    /// The variables of this process, as bytes.
    static func ofThisProcess() throws(KeychainError) -> ChildEnvironment {
        var words: [[UInt8]] = []
        ProcessEnvironment.withPointers { pointers in
            var next = pointers
            while let word = next?.pointee {
                words.append(Array(UnsafeRawBufferPointer(start: word, count: strlen(word))))
                next = next?.successor()
            }
        }
        var environment = ChildEnvironment()
        for word in words { environment.entries.append(Self.split(word)) }
        return environment
    }

    private static func split(_ word: [UInt8]) -> (name: [UInt8], content: Content) {
        guard let equals = word.firstIndex(of: UInt8(ascii: "=")) else { return (word, .nothing) }
        return (Array(word[..<equals]), .bytes(Array(word[(equals + 1)...])))
    }

    // MARK: - Variables

    /// Sets a variable to a reference or other bytes; the last setting counts.
    mutating func set(_ name: String, to value: [UInt8]) {
        let bytes = Array(name.utf8)
        entries.removeAll { $0.name == bytes }
        entries.append((bytes, .bytes(value)))
    }

    /// Finds the variables whose whole value is a reference.
    mutating func findReferences() throws(KeychainError) {
        for index in entries.indices {
            guard case .bytes(let value) = entries[index].content, SecretReference.begins(value) else { continue }
            let place = "The variable \(String(decoding: entries[index].name, as: UTF8.self))"
            do throws(KeychainError) {
                entries[index].content = .reference(try SecretReference(value), place: place)
            } catch {
                throw error.found(in: place)
            }
        }
    }

    var hasReferences: Bool { entries.contains { if case .reference = $0.content { true } else { false } } }

    /// The same with values instead of references.
    func resolved(_ values: inout ReferencedValues) throws(KeychainError) -> ChildEnvironment {
        var result = self
        for index in entries.indices {
            guard case .reference(let reference, let place) = entries[index].content else { continue }
            let value = try values.value(of: reference, in: place)
            guard !value.contains(0) else {
                throw KeychainError(
                    .invalidParameter,
                    "\(place): the value contains a NUL byte, which a variable cannot. Nothing was started.")
            }
            result.entries[index].content = .bytes(Array(value))
        }
        return result
    }

    /// Calls `body` with "NAME=value" pointers, terminated by `nil`.
    func withPointers<Result>(
        _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) throws -> Result
    ) rethrows -> Result {
        let pointers = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: entries.count + 1)
        for (index, entry) in entries.enumerated() { pointers[index] = Self.word(entry.name, entry.content) }
        pointers[entries.count] = nil
        defer {
            for index in entries.indices { pointers[index].map(Self.release) }
            pointers.deallocate()
        }
        return try body(pointers)
    }

    private static func word(_ name: [UInt8], _ content: Content) -> UnsafeMutablePointer<CChar> {
        var bytes = name
        if case .bytes(let value) = content { bytes += [UInt8(ascii: "=")] + value }
        bytes.append(0)
        let word = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
        for (index, byte) in bytes.enumerated() { word[index] = CChar(bitPattern: byte) }
        return word
    }

    private static func release(_ word: UnsafeMutablePointer<CChar>) {
        wipeMemory(UnsafeMutableRawBufferPointer(start: word, count: strlen(word)))
        word.deallocate()
    }
}
