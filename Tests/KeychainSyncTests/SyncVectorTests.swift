// SPDX-License-Identifier: Apache-2.0
// Fixed facts about the formats of sync.

import Testing

struct SyncVectorTests {
    @Test func vector_evaluatedHere_hasTheFixedResult() throws {
        let vectors = try SyncVector.all()
        #expect(vectors.count >= 15)
        for vector in vectors { #expect(try vector.evaluate() == vector.expected, "\(vector.name)") }
    }
}
