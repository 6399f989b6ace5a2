// SPDX-License-Identifier: Apache-2.0
// Type numbers of objects, by which code for Core Foundation tells them apart.

// swift-format-ignore-file: AlwaysUseLowerCamelCase

#if os(Linux)
    import Foundation

    /// The type number of an object. It can only be compared, for example with `SecKeyGetTypeID()`.
    ///
    /// ```swift
    /// guard let result, CFGetTypeID(result) == SecKeyGetTypeID() else { return nil }
    /// let key = result as! SecKey
    /// ```
    ///
    /// - Returns: 0 for `nil`, and for objects of other classes than those with a function `…GetTypeID`.
    public func CFGetTypeID(_ cf: CFTypeRef!) -> CFTypeID {
        switch cf {
        case is SecKey: SecKeyGetTypeID()
        case is SecCertificate: SecCertificateGetTypeID()
        case is SecIdentity: SecIdentityGetTypeID()
        case is SecAccessControl: SecAccessControlGetTypeID()
        case is NSString: CFStringGetTypeID()
        case is NSDictionary: CFDictionaryGetTypeID()
        case is NSArray: CFArrayGetTypeID()
        case is NSData: CFDataGetTypeID()
        case let number as NSNumber: isBoolean(number) ? CFBooleanGetTypeID() : CFNumberGetTypeID()
        case is NSSet: CFSetGetTypeID()
        case is NSDate: CFDateGetTypeID()
        case is NSError: CFErrorGetTypeID()
        default: (cf as? any TypeNumbered)?.typeNumber ?? 0
        }
    }

    /// Foundation has two classes of its own, of which the one for Booleans is not public.
    private func isBoolean(_ number: NSNumber) -> Bool {
        type(of: number) == type(of: kCFBooleanTrue as NSNumber)
    }

    /// An object of a module above this one.
    package protocol TypeNumbered {
        var typeNumber: CFTypeID { get }
    }

    /// The type number of strings.
    public func CFStringGetTypeID() -> CFTypeID { 7 }
    /// The type number of sets.
    public func CFSetGetTypeID() -> CFTypeID { 17 }
    /// The type number of dictionaries.
    public func CFDictionaryGetTypeID() -> CFTypeID { 18 }
    /// The type number of arrays.
    public func CFArrayGetTypeID() -> CFTypeID { 19 }
    /// The type number of data.
    public func CFDataGetTypeID() -> CFTypeID { 20 }
    /// The type number of Booleans. Those that the keychain stores come back as numbers, as on Apple platforms.
    public func CFBooleanGetTypeID() -> CFTypeID { 21 }
    /// The type number of numbers.
    public func CFNumberGetTypeID() -> CFTypeID { 22 }
    /// The type number of errors.
    public func CFErrorGetTypeID() -> CFTypeID { 27 }
    /// The type number of dates.
    public func CFDateGetTypeID() -> CFTypeID { 42 }
#endif
