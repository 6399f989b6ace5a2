// SPDX-License-Identifier: Apache-2.0
// Disks that are hardly larger than the reserve, or smaller.

import Foundation
import Testing

@testable import KeychainVault

extension FullDiskTests {
    @Test(arguments: [300, 500, 700, 900, 1100, 1300])
    func firstItems_onASmallDisk_areStoredAndCanBeDeletedOnceItIsFull(kibibytes: Int) throws {
        let lines = try FullDisk(kibibytes: kibibytes).run(
            """
            vault add-and-close gone value-1; vault add-and-close kept value-2
            fill; vault delete gone; vault read gone; vault read kept
            """)
        #expect(lines.steps == ["done", "done", "full", "done", "failed itemNotFound", "value-2"])
    }

    @Test func reserve_onASmallDisk_takesAThirdOfItAndNoMoreAfterADeletion() throws {
        let lines = try FullDisk(kibibytes: 1200).run(
            """
            vault add-and-close gone value-1; size; fill; vault delete gone; rm $disk/fill
            vault add-and-close more value-2; size
            """)
        let sizes = [1, 5].map { lines.steps.indices.contains($0) ? Int(lines.steps[$0]) ?? 0 : 0 }
        #expect(sizes.allSatisfy { (256 << 10...400 << 10).contains($0) }, "\(lines.steps)")
    }
}
