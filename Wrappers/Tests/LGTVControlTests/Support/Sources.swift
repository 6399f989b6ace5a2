// SPDX-License-Identifier: Apache-2.0
// Files of the examples.

import Foundation

enum Sources {
    static var entitlements: URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Examples/LGTV/LG TV Remote Widget.entitlements")
    }
}
