// SPDX-License-Identifier: Apache-2.0
// The widget: shows which television the remote control has paired with, from the keychain that both share.

import Foundation
import LGTVControl

@main
enum Widget {
    static func main() {
        do {
            guard let credentials = try LGTVControlManager.shared.storedCredentials(), credentials.clientKey != nil
            else {
                return print("Setup Required")
            }
            let status = AppGroupManager.shared.getString(forKey: LGTVControlManager.Constants.lastStatusKey)
            print("\(credentials.ipAddress): \(status ?? "not connected yet")")
        } catch {
            // A keychain that cannot be read is not the same as one without credentials.
            let reason = LGTVControlManager.shared.lastFailure?.localizedDescription ?? error.localizedDescription
            FileHandle.standardError.write(Data("The credentials could not be read. \(reason)\n".utf8))
            exit(1)
        }
    }
}
