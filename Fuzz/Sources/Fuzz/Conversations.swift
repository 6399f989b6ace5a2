// SPDX-License-Identifier: Apache-2.0
// What a pinentry program might answer.

import Foundation
import KeychainEngine

@testable import KeychainAuthenticators
@testable import SecretMemory

enum Conversations {
    static func assuan(_ bytes: Data) {
        parameters(bytes)
        guard let channel = try? Channel.socket(), bytes.count <= 1 << 16 else { return }
        _ = bytes.withUnsafeBytes { send(channel.theirs, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT)) }
        channel.closeTheirs()
        guard let waiting = try? Waiting(AuthenticationCancellation(), timeout: .seconds(5)) else { return }
        let connection = AssuanConnection(channel, Program(path: "/pinentry"))
        // Each reply takes at least one line, so there cannot be more of them than bytes.
        for _ in 0...bytes.count {
            guard let reply = try? connection.reply(waiting) else { return }
            switch reply {
            case .ok(let data, _): require((data?.count ?? 0) <= Assuan.longestData, "no more than the limit is taken")
            case .error: break
            case .end: return
            }
        }
        fatalError("broken promise: a conversation ends")
    }

    /// A parameter is one line, and means the beginning of the text.
    private static func parameters(_ bytes: Data) {
        guard let text = String(validating: bytes, as: UTF8.self) else { return }
        let parameter = Assuan.parameter(text)
        require(parameter.utf8.count <= 1000, "a parameter fits into a line")
        require(!parameter.utf8.contains { $0 == 10 || $0 == 13 }, "a parameter is one line")
        let (line, decoded) = (SecretBuffer(capacity: 2048), SecretBuffer(capacity: 2048))
        for byte in parameter.utf8 { _ = line.append(byte) }
        require(Assuan.decode(line, 0..<line.count, into: decoded), "a parameter can be decoded")
        let meant = (0..<decoded.count).map { decoded[$0] }
        let isWhole = meant.elementsEqual(text.utf8)
        require(isWhole || text.utf8.starts(with: meant.dropLast("…".utf8.count)), "a parameter means its text")
    }
}
