// SPDX-License-Identifier: Apache-2.0
// The Core Foundation names that Keychain Services signatures and their callers use, over Foundation's classes.

// swift-format-ignore-file: AlwaysUseLowerCamelCase

#if os(Linux)
    public import Foundation
    import KeychainEngine

    /// Any object.
    public typealias CFTypeRef = AnyObject
    /// A string.
    public typealias CFString = NSString
    /// A dictionary.
    public typealias CFDictionary = NSDictionary
    /// A dictionary that can be changed.
    public typealias CFMutableDictionary = NSMutableDictionary
    /// An array.
    public typealias CFArray = NSArray
    /// An array that can be changed.
    public typealias CFMutableArray = NSMutableArray
    /// Objects without an order.
    public typealias CFSet = NSSet
    /// Bytes.
    public typealias CFData = NSData
    /// A moment in time.
    public typealias CFDate = NSDate
    /// Seconds since the start of 2001, in Greenwich.
    public typealias CFAbsoluteTime = Double
    /// A number.
    public typealias CFNumber = NSNumber
    /// A Boolean. Its class is that of numbers; `CFGetTypeID` tells them apart.
    public typealias CFBoolean = NSNumber
    /// An error.
    public typealias CFError = NSError
    /// The family of codes that an error belongs to.
    public typealias CFErrorDomain = NSString

    /// An identifier that is unique.
    public typealias CFUUID = NSUUID

    /// The result code of a keychain function.
    public typealias OSStatus = Int32
    /// A set of option bits.
    public typealias CFOptionFlags = UInt
    /// Four characters as a number, such as `kSecAttrCreator`.
    public typealias FourCharCode = UInt32
    /// Four characters as a number.
    public typealias OSType = FourCharCode
    /// A hash.
    public typealias CFHashCode = UInt
    /// A count or a position.
    public typealias CFIndex = Int
    /// The number of a Core Foundation type.
    public typealias CFTypeID = UInt

    /// Stands for a memory allocator; only the default one exists, and it is `nil`.
    public final class CFAllocator: Sendable {
        private init() {}
    }

    /// The default memory allocator.
    public let kCFAllocatorDefault: CFAllocator! = nil

    /// The object for `true`.
    public let kCFBooleanTrue: CFBoolean! = NSNumber(value: true)

    /// The object for `false`.
    public let kCFBooleanFalse: CFBoolean! = NSNumber(value: false)

    /// The result code of a call that worked; the same as `errSecSuccess`.
    public let noErr: OSStatus = 0

    /// Whether a Boolean is `true`; `false` for `nil`.
    public func CFBooleanGetValue(_ boolean: CFBoolean!) -> Bool {
        boolean?.boolValue ?? false
    }

    /// The domain of an error, `NSOSStatusErrorDomain` for those of this library.
    public func CFErrorGetDomain(_ err: CFError!) -> CFErrorDomain! {
        err.map { NSString(string: $0.domain) }
    }

    /// The code of an error, a status code for those of this library; 0 for `nil`.
    public func CFErrorGetCode(_ err: CFError!) -> CFIndex {
        err?.code ?? 0
    }

    /// The further details of an error, possibly empty.
    public func CFErrorCopyUserInfo(_ err: CFError!) -> CFDictionary! {
        err.map { $0.userInfo as NSDictionary }
    }

    /// A sentence that explains an error to the user.
    public func CFErrorCopyDescription(_ err: CFError!) -> CFString! {
        err.map { NSString(string: $0.localizedDescription) }
    }

    /// Whether two objects are equal by value, or are the same object where they cannot be compared by value.
    public func CFEqual(_ cf1: CFTypeRef!, _ cf2: CFTypeRef!) -> Bool {
        guard let cf1, let cf2 else { return cf1 == nil && cf2 == nil }
        if cf1 === cf2 { return true }
        if let object = cf1 as? NSObject { return object.isEqual(cf2) }
        if let left = cf1 as? AnyHashable, let right = cf2 as? AnyHashable { return left == right }
        return false
    }

    /// A number that is the same for equal objects; 0 for `nil`, and for objects that cannot be compared by value.
    public func CFHash(_ cf: CFTypeRef!) -> CFHashCode {
        CFHashCode(bitPattern: (cf as? NSObject)?.hash ?? (cf as? AnyHashable)?.hashValue ?? 0)
    }

    /// A new random identifier.
    ///
    /// - Parameter alloc: has no effect.
    public func CFUUIDCreate(_ alloc: CFAllocator!) -> CFUUID! {
        NSUUID(uuidString: UUID.random().uuidString)
    }

    /// The text of an identifier, in capital letters; `nil` for `nil`.
    ///
    /// - Parameter alloc: has no effect.
    public func CFUUIDCreateString(_ alloc: CFAllocator!, _ uuid: CFUUID!) -> CFString! {
        uuid.map { NSString(string: $0.uuidString) }
    }

    /// The identifier of a text; `nil` if the text is none.
    ///
    /// - Parameter alloc: has no effect.
    public func CFUUIDCreateFromString(_ alloc: CFAllocator!, _ uuidStr: CFString!) -> CFUUID! {
        uuidStr.flatMap { NSUUID(uuidString: $0 as String) }
    }
#endif
