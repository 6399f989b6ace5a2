// SPDX-License-Identifier: Apache-2.0
// Exports of the tool: any bytes as a file, and an encrypted export in which bytes were changed.

import Foundation
import KeychainKit

@testable import KeychainEngine
@testable import keychainctl

enum Exports {
    /// An export for the identity, and the items in it.
    nonisolated(unsafe) private static var sealed = Data()
    nonisolated(unsafe) private static var items: [Item] = []
    nonisolated(unsafe) private static var identity: AgeIdentity?

    /// The public key of an identity of 32 zero bytes, which only this program uses.
    private static let recipient = "age19ljhmg68e43yx9fgm2k9lwefquc0la5y4lzvlshdjzv47kxt8d6qr9vf4p"

    static func prepare() {
        identity = AgeIdentity(Bech32.encode(Data(count: 32), prefix: "age-secret-key-").utf8)
        guard identity != nil, let recipient = AgeRecipient(recipient.utf8) else { fatalError("the keys are age's") }
        items = [Data("one".utf8), Data(repeating: 7, count: 70_000), Data()].enumerated().map { number, value in
            var attributes = Attributes()
            attributes[.service] = .string("fuzz")
            attributes[.account] = .string("\(number)")
            return Item(
                itemClass: .genericPassword, attributes: attributes, accessControl: AccessControl(.whenUnlocked),
                value: value)
        }
        sealed = written(to: recipient)
        require(read(sealed) == items.map(\.value), "an export is read as it was written")
    }

    static func file(_ bytes: Data) {
        var input = FuzzInput(bytes)
        guard input.byte() & 1 == 1 else { return whole(input.rest) }
        var changed = sealed
        Tampering.change(&changed, &input)
        let found = read(changed)
        require(found == nil || changed == sealed, "no byte of an export can be changed")
    }

    /// As a file of its own.
    private static func whole(_ bytes: Data) {
        if let header = try? AgeHeader(startOf: bytes) {
            require(bytes.starts(with: header.bytes), "a header is the beginning of its file")
            let stanzas = header.stanzas.allSatisfy { !$0.arguments.isEmpty && !$0.arguments.contains("") }
            require(stanzas, "a stanza has a kind")
        }
        _ = read(bytes)
    }

    private static func written(to recipient: AgeRecipient) -> Data {
        let (content, fileKey, nonce) = (MemorySink(), AgeWrapping.newFileKey(), Data(count: AgeStream.nonceLength))
        var (form, stream) = (LinesForm(content), AgeStream(fileKey: fileKey, nonce: nonce))
        do {
            try form.begin(items.count)
            for item in items { try form.add(item) }
            try form.end()
            var (file, rest) = (AgeHeader([try recipient.wrap(fileKey)], fileKey: fileKey).bytes + nonce, content.bytes)
            while !rest.isEmpty {
                let chunk = rest.prefix(AgeStream.chunkLength)
                rest = Data(rest.dropFirst(chunk.count))
                file += try stream.seal(Data(chunk), isLast: rest.isEmpty)
            }
            return file
        } catch {
            fatalError("an export can be written")
        }
    }

    /// The values; `nil` unless all of the file is good.
    private static func read(_ bytes: Data) -> [Data?]? {
        guard let identity, let file = try? ArchiveFile(Scratch.write(bytes, "exported")) else { return nil }
        if file.header != nil, (try? file.unlock(with: [identity])) == nil { return nil }
        guard var reading = try? file.reading() else { return nil }
        var values: [Data?] = []
        while true {
            do {
                guard let item = try reading.next() else { return values }
                values.append(item.value)
            } catch {
                return nil
            }
        }
    }
}

private final class MemorySink: ByteSink {
    private(set) var bytes = Data()

    func write(_ bytes: UnsafeRawBufferPointer) { self.bytes.append(contentsOf: bytes) }
    func finish() {}
}
