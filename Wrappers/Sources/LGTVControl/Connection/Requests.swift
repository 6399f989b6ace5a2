// SPDX-License-Identifier: Apache-2.0
// Requests to a television.

#if LGTVControl
    import Foundation

    enum Requests {
        /// Registers this program, with the key by which the television may already know it.
        static func register(_ id: String, key: String?) throws -> Data {
            var payload: [String: Any] = ["forcePairing": false, "pairingType": "PROMPT", "manifest": manifest]
            if let key { payload["client-key"] = key }
            return try bytes(["type": "register", "id": id, "payload": payload])
        }

        /// - Parameter parameters: JSON; see ``parameters(_:)``.
        static func request(_ id: String, _ uri: String, _ parameters: Data?) throws -> Data {
            var request: [String: Any] = ["type": "request", "id": id, "uri": uri]
            if let parameters { request["payload"] = try JSONSerialization.jsonObject(with: parameters) }
            return try bytes(request)
        }

        /// A caller's parameters as JSON, which can be sent between tasks.
        static func parameters(_ parameters: [String: Any]?) throws -> Data? {
            guard let parameters else { return nil }
            // Foundation stops the program if the value cannot be JSON.
            guard JSONSerialization.isValidJSONObject(parameters) else {
                throw ConnectionError(
                    .invalidParameter,
                    "The parameters cannot be sent as JSON. Use text, numbers, truth values, arrays and dictionaries.")
            }
            return try bytes(parameters)
        }

        private static func bytes(_ object: [String: Any]) throws -> Data {
            try JSONSerialization.data(withJSONObject: object, options: [.sortedKeys, .withoutEscapingSlashes])
        }

        /// What the television shows to the person in front of it, and the permissions that this program asks for.
        private static var manifest: [String: Any] {
            let (name, vendor) = ("LG TV Remote Widget", "Dara Consulting Inc.")
            return [
                "manifestVersion": 1, "version": "1.0.0", "appId": "com.DaraConsultingInc.LGTVRemoteWidget",
                "appName": name, "localizedAppNames": ["": name],
                "vendorName": vendor, "localizedVendorNames": ["": vendor],
                "permissions": permissions, "signatures": [["signatureVersion": 1, "signature": ""]],
            ]
        }

        private static let permissions = [
            "APP_TO_APP", "CONTROL_AUDIO", "CONTROL_DISPLAY", "CONTROL_INPUT_JOYSTICK", "CONTROL_INPUT_MEDIA_PLAYBACK",
            "CONTROL_INPUT_MEDIA_RECORDING", "CONTROL_INPUT_TEXT", "CONTROL_INPUT_TV", "CONTROL_MOUSE_AND_KEYBOARD",
            "CONTROL_POWER", "CONTROL_TV_SCREEN", "LAUNCH", "LAUNCH_WEBAPP", "READ_CURRENT_CHANNEL",
            "READ_INPUT_DEVICE_LIST", "READ_INSTALLED_APPS", "READ_NETWORK_STATE", "READ_POWER_STATE",
            "READ_RUNNING_APPS", "READ_TV_CHANNEL_LIST", "READ_TV_CURRENT_TIME", "WRITE_NOTIFICATION_TOAST",
        ]
    }
#endif
