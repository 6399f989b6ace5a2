// SPDX-License-Identifier: Apache-2.0
// Addresses of televisions that do not exist.

import LGTVControl

extension TVCredentials {
    static let living = TVCredentials(
        ipAddress: "192.0.2.14", macAddress: "02:00:5E:10:00:01", clientKey: "0f1e2d3c4b5a69788796a5b4c3d2e1f0")
    static let kitchen = TVCredentials(
        ipAddress: "192.0.2.15", macAddress: "02:00:5E:10:00:02", clientKey: "00112233445566778899aabbccddeeff")
    static let unpaired = TVCredentials(ipAddress: "192.0.2.16", macAddress: "02:00:5E:10:00:03")
}
