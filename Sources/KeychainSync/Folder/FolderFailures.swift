// SPDX-License-Identifier: Apache-2.0
// Why a folder could not do something.

import Foundation

extension CarrierFailure {
    static func silent(_ path: String) -> CarrierFailure {
        CarrierFailure(
            .unavailable, "'\(path)' does not answer. Is its server or its tool running? Try again later.")
    }

    /// It is another one's, so it is not replaced.
    static func foreign(_ path: String) -> CarrierFailure {
        CarrierFailure(
            .denied,
            "'\(path)' has the name of an object of the ring, but is no file: it is a folder, a link or the like. Move it away."
        )
    }

    /// The failure for `errno`.
    static func system(_ action: String, _ path: String) -> CarrierFailure {
        let code = errno
        let reason: Reason =
            switch code {
            case ENOENT, ENOTDIR, ELOOP, ESTALE, ENOTCONN, EHOSTDOWN, ETIMEDOUT, ENXIO, ENODEV: .unavailable
            case EACCES, EPERM, EROFS: .denied
            case ENOSPC, EDQUOT: .full
            default: .inputOutput
            }
        return CarrierFailure(
            reason, "Cannot \(action) '\(path)': \(String(cString: strerror(code))). \(advice(reason))")
    }

    private static func advice(_ reason: Reason) -> String {
        switch reason {
        case .unavailable: "Mount it, and start the tool that shares it."
        case .denied: "Give this user permission to read and write there."
        case .full: "Free some space there."
        case .overcrowded, .tooLarge, .inputOutput, .unusable: "Try again."
        }
    }
}
