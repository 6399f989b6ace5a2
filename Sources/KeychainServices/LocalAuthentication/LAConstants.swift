// SPDX-License-Identifier: Apache-2.0
// The constants of local authentication under their C names, which older code uses.

// swift-format-ignore-file: AlwaysUseLowerCamelCase

#if os(Linux)
    public import Foundation

    /// A pointer to which a function writes an error; `nil` to ignore it. Foundation has this name only on Apple
    /// platforms.
    public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?

    /// The longest time, in seconds, that `touchIDAuthenticationAllowableReuseDuration` can be set to.
    public let LATouchIDAuthenticationMaximumAllowableReuseDuration: TimeInterval = 300

    /// `LAPolicy.deviceOwnerAuthenticationWithBiometrics`.
    public let kLAPolicyDeviceOwnerAuthenticationWithBiometrics: Int32 = 1
    /// `LAPolicy.deviceOwnerAuthentication`.
    public let kLAPolicyDeviceOwnerAuthentication: Int32 = 2
    /// `LAPolicy.deviceOwnerAuthenticationWithCompanion`.
    public let kLAPolicyDeviceOwnerAuthenticationWithCompanion: Int32 = 3
    /// Older name of `kLAPolicyDeviceOwnerAuthenticationWithCompanion`.
    public let kLAPolicyDeviceOwnerAuthenticationWithWatch: Int32 = 3
    /// `LAPolicy.deviceOwnerAuthenticationWithBiometricsOrCompanion`.
    public let kLAPolicyDeviceOwnerAuthenticationWithBiometricsOrCompanion: Int32 = 4
    /// Older name of `kLAPolicyDeviceOwnerAuthenticationWithBiometricsOrCompanion`.
    public let kLAPolicyDeviceOwnerAuthenticationWithBiometricsOrWatch: Int32 = 4
    /// `LAPolicy.deviceOwnerAuthenticationWithWristDetection`.
    public let kLAPolicyDeviceOwnerAuthenticationWithWristDetection: Int32 = 5

    /// `LAError.Code.authenticationFailed`.
    public let kLAErrorAuthenticationFailed: Int32 = -1
    /// `LAError.Code.userCancel`.
    public let kLAErrorUserCancel: Int32 = -2
    /// `LAError.Code.userFallback`.
    public let kLAErrorUserFallback: Int32 = -3
    /// `LAError.Code.systemCancel`.
    public let kLAErrorSystemCancel: Int32 = -4
    /// `LAError.Code.passcodeNotSet`.
    public let kLAErrorPasscodeNotSet: Int32 = -5
    /// `LAError.Code.biometryNotAvailable`.
    public let kLAErrorBiometryNotAvailable: Int32 = -6
    /// Older name of `kLAErrorBiometryNotAvailable`.
    public let kLAErrorTouchIDNotAvailable: Int32 = -6
    /// `LAError.Code.biometryNotEnrolled`.
    public let kLAErrorBiometryNotEnrolled: Int32 = -7
    /// Older name of `kLAErrorBiometryNotEnrolled`.
    public let kLAErrorTouchIDNotEnrolled: Int32 = -7
    /// `LAError.Code.biometryLockout`.
    public let kLAErrorBiometryLockout: Int32 = -8
    /// Older name of `kLAErrorBiometryLockout`.
    public let kLAErrorTouchIDLockout: Int32 = -8
    /// `LAError.Code.appCancel`.
    public let kLAErrorAppCancel: Int32 = -9
    /// `LAError.Code.invalidContext`.
    public let kLAErrorInvalidContext: Int32 = -10
    /// `LAError.Code.companionNotAvailable`.
    public let kLAErrorCompanionNotAvailable: Int32 = -11
    /// Older name of `kLAErrorCompanionNotAvailable`.
    public let kLAErrorWatchNotAvailable: Int32 = -11
    /// `LAError.Code.biometryNotPaired`.
    public let kLAErrorBiometryNotPaired: Int32 = -12
    /// `LAError.Code.biometryDisconnected`.
    public let kLAErrorBiometryDisconnected: Int32 = -13
    /// `LAError.Code.invalidDimensions`.
    public let kLAErrorInvalidDimensions: Int32 = -14
    /// `LAError.Code.notInteractive`.
    public let kLAErrorNotInteractive: Int32 = -1004
#endif
