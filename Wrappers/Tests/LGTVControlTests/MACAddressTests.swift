// SPDX-License-Identifier: Apache-2.0
// Which addresses wake a television, and with which bytes.

import Testing
import WrapperStores

@testable import LGTVControl

@Suite("MAC addresses")
struct MACAddressTests {
    @Test(arguments: ["02:00:5E:10:00:01", "02-00-5e-10-00-01"])
    func address_withColonsOrDashes_isSixBytes(text: String) throws {
        #expect(try MACAddress(text).bytes == [0x02, 0x00, 0x5E, 0x10, 0x00, 0x01])
    }

    @Test(arguments: [
        "", "02005E100001", "02:00:5E:10:00", "02:00:5E:10:00:01:02", "02:00:5E:10:00:0", "02:00:5E:10:00:001",
        "02:00:5E:10:00:0G", "02:00:5E:10:00:+1", "02:00-5E:10:00:01", " 02:00:5E:10:00:01", "02:00:5E:10:00:01\n",
        "02 00 5E 10 00 01", "02::5E:10:00:01", "０２:00:5E:10:00:01", String(repeating: ":", count: 100_000),
    ])
    func anythingElse_isInvalid(text: String) {
        #expect(failure { try MACAddress(text) } as? WakeOnLANError == .invalidMAC)
    }

    @Test func magicPacket_isSixOnesAndSixteenTimesTheAddress() throws {
        let packet = try MACAddress("02:00:5E:10:00:01").magicPacket
        #expect(packet.count == 102)
        #expect(packet.prefix(6) == [255, 255, 255, 255, 255, 255])
        for index in 0..<16 { #expect(packet.dropFirst(6 + index * 6).prefix(6) == [0x02, 0, 0x5E, 0x10, 0, 1]) }
    }
}
