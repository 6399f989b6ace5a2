// SPDX-License-Identifier: Apache-2.0
// How a TPM counts wrong PINs.

#if TPM
    import Foundation

    /// The state of the protection against guessing, which all secrets with PINs share.
    struct Lockout {
        /// The wrong tries that count now.
        let failures: UInt32
        /// As many lock the TPM.
        let limit: UInt32
        /// The seconds until one of them is forgotten; 0: never.
        let interval: UInt32

        /// `nil` if the TPM does not say. It is only used for messages: no code protects these numbers.
        init?(_ conversation: Conversation) {
            do throws(TPMFailure) {
                failures = try Self.value(of: .lockoutCounter, conversation)
                limit = try Self.value(of: .maxAuthFail, conversation)
                interval = try Self.value(of: .lockoutInterval, conversation)
            } catch {
                return nil
            }
        }

        private static func value(of property: Property, _ conversation: Conversation) throws(TPMFailure) -> UInt32 {
            var command = MessageWriter(capacity: 32)
            command.putHeader(.getCapability)
            // TPM_CAP_TPM_PROPERTIES, from this one on, one of them
            command.put(UInt32(6))
            command.put(property.rawValue)
            command.put(UInt32(1))
            let response = try conversation.send(command.finished, .getCapability)
            return try read(response) { (reader) throws(MalformedMessage) in
                _ = try reader.number(UInt8.self)
                guard try reader.number(UInt32.self) == 6, try reader.number(UInt32.self) == 1,
                    try reader.number(UInt32.self) == property.rawValue
                else { throw MalformedMessage() }
                return try reader.number()
            }
        }

        /// What to do when it is locked.
        var whenToTryAgain: String {
            guard interval > 0 else { return "The owner of the TPM must unlock it." }
            return "It forgets one wrong PIN every \(Self.text(interval)). Try again after that time."
        }

        /// What to do after a wrong PIN.
        var triesLeft: String {
            guard limit > failures else { return "The TPM is locked now. " + whenToTryAgain }
            let left = limit - failures
            return "Before the TPM locks itself, \(left) wrong \(left == 1 ? "PIN is" : "PINs are") left."
        }

        private static func text(_ seconds: UInt32) -> String {
            switch seconds {
            case 120...7200: "\(roundedUp(seconds, 60)) minutes"
            case 7201...: "\(roundedUp(seconds, 3600)) hours"
            default: "\(seconds) seconds"
            }
        }

        /// A sum would overflow: anybody on the way may send any number.
        private static func roundedUp(_ seconds: UInt32, _ unit: UInt32) -> UInt32 {
            seconds / unit + (seconds % unit == 0 ? 0 : 1)
        }
    }
#endif
