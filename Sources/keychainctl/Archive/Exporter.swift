// SPDX-License-Identifier: Apache-2.0
// Writes an export: one state of the vault, verified before the file gets its name.

import Crypto
import Foundation
import KeychainEngine
import KeychainKit

/// How an export is written and checked.
enum ExportForm {
    case sealed(AgeHeader, SymmetricKey)
    case clear(ClearFormat)
}

enum ClearFormat: String, CaseIterable {
    case json, csv
}

struct Exporter {
    /// Another program would have to change items during each of them.
    private static let attempts = 3

    let source: ExportSource
    let form: ExportForm
    let place: NewFilePlace
    /// Whether items that cannot be read are left out; otherwise they are an error.
    let isSkipping: Bool
    /// Called with the number of items that were written so far, now and then.
    var progress: (Int) -> Void = { _ in }

    private static let progressStep = 100

    /// What was written.
    struct Report {
        let count: Int
        let leftOut: [UnreadableItem]
    }

    /// - Throws: `busy` if items keep changing; the failure of the first item that cannot be read. Then there is no file.
    func run() throws(KeychainError) -> Report {
        let file = try NewFile(place)
        var (excluded, disturbances): ([UUID: UnreadableItem], Int) = ([:], 0)
        while disturbances < Self.attempts {
            let (listed, closed) = try source.list()
            let items = listed.filter { excluded[$0.id] == nil }
            let filling = try write(items, to: file)
            excluded.merge(filling.unreadable) { first, _ in first }
            let leftOut = closed + listed.compactMap { excluded[$0.id] }
            if !isSkipping, let first = leftOut.first { throw Self.unreadable(leftOut, first) }
            // The first line says how many items there are, so the file begins again without the unreadable ones.
            guard filling.unreadable.isEmpty else { continue }
            let hasChanged = try source.hasChanged(since: listed)
            guard filling.isOutdated || hasChanged else {
                try file.putInPlace()
                return Report(count: items.count, leftOut: leftOut)
            }
            disturbances += 1
        }
        throw KeychainError(.busy, "Items kept changing during the export, so no file was written. Try again.")
    }

    private static func unreadable(_ items: [UnreadableItem], _ first: UnreadableItem) -> KeychainError {
        let lines = items.map { "  \($0.name): \($0.failure.message)" }.joined(separator: "\n")
        return KeychainError(
            first.failure.reason,
            "No file was written, because these items cannot be read:\n\(lines)\n"
                + "To export the others, add: --skip-unreadable")
    }

    /// What happened to the items while they were written. The file is only useful if nothing did.
    private struct Filling {
        var unreadable: [UUID: UnreadableItem] = [:]
        /// Whether one of them was removed meanwhile.
        var isOutdated = false
        var isComplete: Bool { unreadable.isEmpty && !isOutdated }
    }

    /// Writes, and verifies what is complete.
    private func write(_ items: [StoredItem], to file: NewFile) throws(KeychainError) -> Filling {
        try file.clear()
        switch form {
        case .sealed(let header, let key):
            var lines = LinesForm(try SealedSink(file, header: header, fileKey: key))
            return try filled(&lines, items) { () throws(KeychainError) in try verifyLines(file, items.count) }
        case .clear(.json):
            var lines = LinesForm(ClearSink(file))
            return try filled(&lines, items) { () throws(KeychainError) in try verifyLines(file, items.count) }
        case .clear(.csv):
            let sink = ClearSink(file)
            var table = TableForm(sink)
            return try filled(&table, items) { () throws(KeychainError) in try verifyTable(file, sink.sum) }
        }
    }

    private func filled(
        _ form: inout some ArchiveForm, _ items: [StoredItem], _ verify: () throws(KeychainError) -> Void
    ) throws(KeychainError) -> Filling {
        var filling = Filling()
        try form.begin(items.count)
        for (index, listed) in items.enumerated() {
            if index > 0, index.isMultiple(of: Self.progressStep) { progress(index) }
            switch try source.read(listed) {
            case .item(var item):
                defer { item.value?.wipe() }
                // After one that is missing, the others are only tried.
                if filling.isComplete { try form.add(item) }
            case .unreadable(let failure):
                filling.unreadable[listed.id] = UnreadableItem(name: listed.item.displayName, failure: failure)
            case .removed: filling.isOutdated = true
            }
        }
        try form.end()
        if filling.isComplete { try verify() }
        return filling
    }

    // MARK: - Verification

    private func verifyLines(_ file: NewFile, _ count: Int) throws(KeychainError) {
        try file.sync()
        var bytes = FileBytes(file.descriptor, place.path)
        let chunks: any ChunkSource
        switch form {
        case .sealed(let header, let key):
            guard try bytes.next(header.bytes.count) == header.bytes else { throw unlikeWritten }
            chunks = try SealedSource(bytes, fileKey: key)
        case .clear: chunks = ClearSource(bytes)
        }
        var reading = try ArchiveReading(chunks)
        var found = 0
        while var item = try reading.next() {
            item.value?.wipe()
            found += 1
        }
        guard found == count else { throw unlikeWritten }
    }

    private func verifyTable(_ file: NewFile, _ sum: Data) throws(KeychainError) {
        try file.sync()
        var (bytes, digest) = (ClearSource(FileBytes(file.descriptor, place.path)), SHA256())
        while var chunk = try bytes.next() {
            digest.update(data: chunk)
            chunk.wipe()
        }
        guard Data(digest.finalize()) == sum else { throw unlikeWritten }
    }

    private var unlikeWritten: KeychainError {
        KeychainError(
            .inputOutput,
            "What is in the file differs from what was written, so it was removed. The medium may be failing; try another."
        )
    }
}
