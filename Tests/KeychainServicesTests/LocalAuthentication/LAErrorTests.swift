// SPDX-License-Identifier: Apache-2.0
// Errors of local authentication, in every way that code looks at them, and the numbers of Apple's headers (rule 5.6).

import Foundation
import KeychainServices
import Testing

@Suite("LocalAuthentication: errors")
struct LAErrorTests {
    static let codes: [(LAError.Code, Int, Int32)] = [
        (.authenticationFailed, -1, kLAErrorAuthenticationFailed), (.userCancel, -2, kLAErrorUserCancel),
        (.userFallback, -3, kLAErrorUserFallback), (.systemCancel, -4, kLAErrorSystemCancel),
        (.passcodeNotSet, -5, kLAErrorPasscodeNotSet), (.biometryNotAvailable, -6, kLAErrorBiometryNotAvailable),
        (.touchIDNotAvailable, -6, kLAErrorTouchIDNotAvailable),
        (.biometryNotEnrolled, -7, kLAErrorBiometryNotEnrolled),
        (.touchIDNotEnrolled, -7, kLAErrorTouchIDNotEnrolled), (.biometryLockout, -8, kLAErrorBiometryLockout),
        (.touchIDLockout, -8, kLAErrorTouchIDLockout), (.appCancel, -9, kLAErrorAppCancel),
        (.invalidContext, -10, kLAErrorInvalidContext), (.companionNotAvailable, -11, kLAErrorCompanionNotAvailable),
        (.watchNotAvailable, -11, kLAErrorWatchNotAvailable), (.biometryNotPaired, -12, kLAErrorBiometryNotPaired),
        (.biometryDisconnected, -13, kLAErrorBiometryDisconnected),
        (.invalidDimensions, -14, kLAErrorInvalidDimensions), (.notInteractive, -1004, kLAErrorNotInteractive),
    ]

    @Test(arguments: codes)
    func errorCode_hasApplesNumber(code: LAError.Code, number: Int, older: Int32) {
        #expect(code.rawValue == number)
        #expect(Int(older) == number)
        let object = LAError(code) as NSError
        #expect(object.domain == "com.apple.LocalAuthentication")
        #expect(object.code == number)
    }

    @Test func nameOnTheError_isTheCode() {
        let names: [LAError.Code] = [
            LAError.authenticationFailed, LAError.userCancel, LAError.userFallback, LAError.systemCancel,
            LAError.passcodeNotSet, LAError.biometryNotAvailable, LAError.touchIDNotAvailable,
            LAError.biometryNotEnrolled, LAError.touchIDNotEnrolled, LAError.biometryLockout, LAError.touchIDLockout,
            LAError.appCancel, LAError.invalidContext, LAError.companionNotAvailable, LAError.watchNotAvailable,
            LAError.biometryNotPaired, LAError.biometryDisconnected, LAError.invalidDimensions, LAError.notInteractive,
        ]
        #expect(names == Self.codes.map(\.0))
    }

    @Test func otherEnumerations_haveApplesNumbers() {
        #expect(LAErrorDomain == LAError.errorDomain)
        #expect(LAPolicy.deviceOwnerAuthenticationWithBiometrics.rawValue == 1)
        #expect(LAPolicy.deviceOwnerAuthentication.rawValue == 2)
        #expect(LAPolicy.deviceOwnerAuthenticationWithCompanion.rawValue == 3)
        #expect(LAPolicy.deviceOwnerAuthenticationWithWatch == .deviceOwnerAuthenticationWithCompanion)
        #expect(LAPolicy.deviceOwnerAuthenticationWithBiometricsOrWatch.rawValue == 4)
        #expect(LAPolicy.deviceOwnerAuthenticationWithWristDetection.rawValue == 5)
        #expect(LAPolicy(rawValue: Int(kLAPolicyDeviceOwnerAuthentication)) == .deviceOwnerAuthentication)
        #expect(LABiometryType(rawValue: 0) == LABiometryType.none)
        #expect([LABiometryType.touchID, .faceID, .opticID].map(\.rawValue) == [1, 2, 4])
        #expect([LACredentialType.applicationPassword, .smartCardPIN].map(\.rawValue) == [0, -3])
        let operations: [LAAccessControlOperation] = [
            .createItem, .useItem, .createKey, .useKeySign, .useKeyDecrypt, .useKeyKeyExchange,
        ]
        #expect(operations.map(\.rawValue) == [0, 1, 2, 3, 4, 5])
        #expect(LATouchIDAuthenticationMaximumAllowableReuseDuration == 300)
    }

    // MARK: - Idioms

    /// One error as the value that is thrown and replied here, and as the object that other code makes of it.
    static let forms: [any Error] = [
        LAError(.userCancel, userInfo: [NSLocalizedDescriptionKey: "Cancelled."]),
        NSError(domain: LAErrorDomain, code: -2, userInfo: [NSLocalizedDescriptionKey: "Cancelled."]),
    ]

    @Test(arguments: forms)
    func error_inEitherForm_isCaughtByItsTypeAndByItsCode(error: any Error) {
        var caught: [String] = []
        do { throw error } catch let error as LAError { caught.append("type \(error.code.rawValue)") } catch {}
        do { throw error } catch let error as LAError where error.code == .userCancel { caught.append("where") } catch {
        }
        do { throw error } catch LAError.userCancel { caught.append("pattern") } catch {}
        do { throw error } catch LAError.systemCancel { caught.append("another") } catch {}
        do { throw error } catch let error as NSError where error.code == LAError.userCancel.rawValue {
            caught.append("object")
        } catch {}
        #expect(caught == ["type -2", "where", "pattern", "object"])
    }

    @Test(arguments: forms)
    func error_inEitherForm_isReadByCasts(error: any Error) {
        let optional: (any Error)? = error
        #expect((error as? LAError)?.code == .userCancel)
        #expect((optional as? LAError)?.code == .userCancel)
        #expect((error as NSError).code == Int(kLAErrorUserCancel))
        #expect((optional as NSError?)?.domain == LAErrorDomain)
        #expect(LAError(_nsError: error as NSError).code == .userCancel)
        #expect(LAError.Code(rawValue: error._code) == .userCancel)
        #expect(error.localizedDescription == "Cancelled.")
        #expect((error as? LAError)?.errorUserInfo[NSLocalizedDescriptionKey] as? String == "Cancelled.")
    }

    @Test(arguments: forms)
    func error_inEitherForm_isFoundByASwitch(error: any Error) {
        let optional: NSError? = error as NSError
        let bySwitch =
            switch (optional as? LAError)?.code {
            case .userCancel, .appCancel: "cancelled"
            case .touchIDNotAvailable: "none"
            default: "other"
            }
        #expect(bySwitch == "cancelled")
        if case LAError.userCancel = error {} else { Issue.record("not matched") }
    }

    @Test func errorOfAnotherDomain_isNone() {
        let other: any Error = NSError(domain: NSPOSIXErrorDomain, code: -2)
        #expect(other as? LAError == nil)
        if case LAError.userCancel = other { Issue.record("matched") }
    }

    @Test(arguments: [0, 1, -15, -1001, Int.max, Int.min])
    func errorWithAnUnknownNumber_isAFailureAndKeepsTheNumber(number: Int) throws {
        let error = try #require(NSError(domain: LAErrorDomain, code: number) as any Error as? LAError)
        #expect(error.code == .authenticationFailed)
        #expect(error.errorCode == number)
    }

    @Test func errors_ofTheSameCode_areEqual() {
        #expect(LAError(.userCancel) == LAError(.userCancel))
        #expect(LAError(.userCancel) != LAError(.appCancel))
    }
}
