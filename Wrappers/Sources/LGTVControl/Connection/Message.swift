// SPDX-License-Identifier: Apache-2.0
// What a television says.

#if LGTVControl
    import Foundation

    /// One message, as far as this program understands it. What it does not know of is left out, whatever its type.
    struct Message: Sendable {
        let type: String
        let id: String?
        let error: String?
        let returnValue: Bool?
        let pairingType: String?
        let code: String?
        let clientKey: String?
        /// All of it, for whoever wants more.
        let bytes: Data

        /// - Returns: `nil` if it is not a JSON object in UTF-8.
        init?(_ bytes: Data) {
            guard String(validating: bytes, as: UTF8.self) != nil else { return nil }
            let parsed: Any
            do { parsed = try JSONSerialization.jsonObject(with: bytes) } catch { return nil }
            guard let object = parsed as? [String: Any] else { return nil }
            let payload = object["payload"] as? [String: Any] ?? [:]
            type = object["type"] as? String ?? ""
            id = object["id"] as? String
            error = object["error"] as? String ?? payload["errorText"] as? String
            returnValue = payload["returnValue"] as? Bool ?? object["returnValue"] as? Bool
            pairingType = payload["pairingType"] as? String
            code = payload["pin"] as? String
            clientKey = payload["client-key"] as? String
            self.bytes = bytes
        }

        /// Whether it says that what was asked for is not done.
        var isRefusal: Bool { type == "error" || returnValue == false }

        /// - Throws: `refused`, with what the television says.
        func checked() throws(ConnectionError) -> Message {
            guard isRefusal else { return self }
            throw ConnectionError(
                .refused, "The TV refused the request. It says: \(PrintableText.of(error ?? "nothing"))")
        }
    }
#endif
