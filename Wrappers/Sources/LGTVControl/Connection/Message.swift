// SPDX-License-Identifier: Apache-2.0
// A message of a television.

#if LGTVControl
    import Foundation

    /// One message, with the fields that this program knows. Unknown fields are ignored, whatever their type.
    struct Message: Sendable {
        let type: String
        let id: String?
        let error: String?
        let returnValue: Bool?
        let pairingType: String?
        let code: String?
        let clientKey: String?
        /// The whole message, for callers that need more.
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

        /// Whether the message says that the request was not carried out.
        var isRefusal: Bool { type == "error" || returnValue == false }

        /// - Throws: `refused`, with the text of the television.
        func checked() throws(ConnectionError) -> Message {
            guard isRefusal else { return self }
            throw ConnectionError(
                .refused, "The TV refused the request. It says: \(PrintableText.of(error ?? "nothing"))")
        }
    }
#endif
