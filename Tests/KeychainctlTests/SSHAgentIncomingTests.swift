// SPDX-License-Identifier: Apache-2.0
// Messages to `ssh-agent` that arrive in pieces, and the memory that is reserved for them.

import Foundation
import SecretMemory
import Testing

@testable import keychainctl

@Suite("incoming messages of ssh-agent")
struct SSHAgentIncomingTests {
    private let incoming = SSHAgentIncoming()
    private let pipe = Pipe()

    private var unread: Int {
        get throws {
            var count: Int32 = 0
            try #require(ioctl(pipe.fileHandleForReading.fileDescriptor, UInt(FIONREAD), &count) == 0)
            return Int(count)
        }
    }

    /// - Returns: The message, if it is complete with these bytes.
    private func send(_ bytes: Data) throws -> SecretBytes? {
        try pipe.fileHandleForWriting.write(contentsOf: bytes)
        var left = try unread
        while left > 0 {
            let state = incoming.read(from: pipe.fileHandleForReading.fileDescriptor)
            let rest = try unread
            try #require(rest < left, "a read takes something")
            left = rest
            if case .complete(let message) = state {
                #expect(rest == 0)
                return message
            }
        }
        return nil
    }

    @Test func longMessage_thatIsOnlyAnnounced_takesLittleMemory() throws {
        #expect(try send(Data([0, 4, 0, 0, 11])) == nil)
        #expect(incoming.reserved == 4096)
        #expect(try send(Data(repeating: 1, count: 4095)) == nil)
        #expect(incoming.reserved == 8192)
    }

    @Test(arguments: [1, 4095, 4096, 4097, 8192, 12_289, 262_144])
    func message_inPieces_arrivesAsItWasSent(length: Int) throws {
        let message = Data((0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
        var rest = withUnsafeBytes(of: UInt32(length).bigEndian) { Data($0) } + message
        var arrived: SecretBytes?
        while !rest.isEmpty {
            #expect(arrived == nil)
            arrived = try send(Data(rest.prefix(1000)))
            rest = Data(rest.dropFirst(1000))
        }
        #expect(arrived.map { $0.withUnsafeBytes { Data($0) } } == message)
        #expect(incoming.reserved == 0)
    }
}
