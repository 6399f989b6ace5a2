// SPDX-License-Identifier: Apache-2.0
// Places of carriers, as a vault stores them.

import KeychainEngine
import KeychainTestSupport
import KeychainVault
import Testing

@testable import KeychainSync

struct CarrierPlaceTests {
    @Test(arguments: ["/srv/shared", "/a:b", "/x\ny", "/"])
    func folder_storedAndRead_isTheSame(_ path: String) throws {
        let place = CarrierPlace.folder(path)
        #expect(place.stored == "folder:" + path)
        #expect(CarrierPlace(stored: place.stored) == place)
    }

    @Test(arguments: ["", "folder", "folder:", "folder:srv", ":/srv", "folder:/srv\0x=y"])
    func textOfNoPlace_isRefused(_ text: String) { #expect(CarrierPlace(stored: text) == nil) }

    @Test func placeOfAnUnknownKind_isKeptAsItIs() throws {
        let place = try #require(CarrierPlace(stored: "cloud:somewhere\0a=b\0"))
        #expect(place.text == "cloud:somewhere" && place.details == ["a=b", ""])
        #expect(place.stored == "cloud:somewhere\0a=b\0")
    }

    @Test func carrierThatThisProgramDoesNotHave_isUnsupported() async throws {
        let folder = try TemporaryFolder("carrier-place")
        let machine = try Machine(folder.path, "laptop")
        let place = try #require(CarrierPlace(stored: "cloud:somewhere"))
        let error = await #expect(throws: KeychainError.self) {
            _ = try await machine.member.found(name: "laptop", at: place)
        }
        #expect(error?.reason == .unsupported)
        #expect(try !machine.vault.isInRing)
    }
}
