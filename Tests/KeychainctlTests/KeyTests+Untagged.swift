// SPDX-License-Identifier: Apache-2.0
// Keys that no tag names.

import Foundation
import Testing

extension KeyTests {
    /// A key that came with a certificate, which is gone since.
    ///
    /// - Returns: What `key list` shows of it that names it.
    private func orphan() throws -> String {
        try shell(
            """
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout k.pem -out c.pem \\
              -subj '/CN=Gone' -days 30 2> /dev/null
            cat k.pem c.pem | "$CTL" identity import 2> /dev/null; "$CTL" certificate delete --name Gone
            """)
        let key = try #require(try keys().first)
        #expect(key["tag"] as? String == nil)
        return try #require(key["applicationLabel"] as? String)
    }

    @Test func key_withoutATag_isDeletedByItsApplicationLabel() throws {
        let label = try orphan()
        try shell("\"$CTL\" key generate p256 --tag other 2>&1; \"$CTL\" key delete --application-label \(label)")
        #expect(try keys().map { $0["tag"] as? String } == ["other"])
    }

    @Test func key_withoutATag_isExportedByItsApplicationLabel() throws {
        let label = try orphan()
        try shell(
            """
            "$CTL" key export --application-label \(label) --clear-text | openssl pkey -pubout > exported
            openssl pkey -in k.pem -pubout | cmp - exported
            """)
    }

    /// Otherwise the key of another program would go with it.
    @Test func key_withATag_isNotDeletedByItsApplicationLabel() throws {
        try shell("\"$CTL\" key generate p256 --tag t 2>&1")
        let label = try #require(try keys().first?["applicationLabel"] as? String)
        #expect(try tool.run("key", "delete", "--application-label", label).status == 3)
        #expect(try keys().count == 1)
    }
}
