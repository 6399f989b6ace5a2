// SPDX-License-Identifier: Apache-2.0
// A television where all televisions listen, for code that names no port.

#if LGTVControl && os(Linux)
    import Foundation

    /// At an address that only this machine has, another one for each process.
    struct LoopbackTV {
        let simulator: TVSimulator
        let address: String

        init(knownKeys: Set<String>) async throws {
            address = Self.address
            simulator = try await TVSimulator(.refuses("500"), knownKeys: knownKeys, host: address, port: 3001)
        }

        static var isPossible: Bool {
            get async {
                do {
                    _ = try await TVSimulator(host: address, port: 3001)
                    return true
                } catch {
                    return false
                }
            }
        }

        private static var address: String {
            let process = ProcessInfo.processInfo.processIdentifier
            return "127.\(83 + (process >> 16) & 0x3F).\((process >> 8) & 0xFF).\(process & 0xFF | 1)"
        }
    }
#endif
