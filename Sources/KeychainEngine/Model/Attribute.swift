// SPDX-License-Identifier: Apache-2.0
// The name of an item's attribute: four ASCII characters, as in Apple's dictionaries.

/// The name of an item attribute: four ASCII characters, the same that Apple's `kSecAttr…` constants hold.
///
/// ``Schema`` defines which classes have an attribute and which values it takes. Any four-character name can be
/// written, so that an unknown name is reported as `noSuchAttribute` and not as a parsing error.
///
/// ```swift
/// let service = Attribute.service
/// let custom = Attribute("svce")   // the same
/// ```
public struct Attribute: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The four characters as one big-endian number. The vault's format stores this number.
    public let code: UInt32

    public init(code: UInt32) {
        self.code = code
    }

    /// - Returns: `nil` unless `name` is exactly four ASCII characters.
    @inlinable
    public init?(_ name: String) {
        var copy = name
        let code: UInt32? = copy.withUTF8 { utf8 in
            guard utf8.count == 4 else { return nil }
            var code: UInt32 = 0
            for byte in utf8 {
                guard byte < 0x80 else { return nil }
                code = code << 8 | UInt32(byte)
            }
            return code
        }
        guard let code else { return nil }
        self.init(code: code)
    }

    private init(known name: StaticString) {
        precondition(name.utf8CodeUnitCount == 4, "attribute names have four characters")
        code = name.withUTF8Buffer { $0.reduce(0) { $0 << 8 | UInt32($1) } }
    }

    public static func < (lhs: Attribute, rhs: Attribute) -> Bool { lhs.code < rhs.code }

    public var description: String {
        let bytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: code >> $0) }
        return String(decoding: bytes.map { $0 < 0x20 || $0 > 0x7E ? UInt8(ascii: "?") : $0 }, as: UTF8.self)
    }
}

extension Attribute {
    // Common to all classes
    public static let creationDate = Attribute(known: "cdat")
    public static let modificationDate = Attribute(known: "mdat")
    public static let label = Attribute(known: "labl")
    public static let accessGroup = Attribute(known: "agrp")
    public static let accessible = Attribute(known: "pdmn")
    public static let synchronizable = Attribute(known: "sync")
    public static let tombstone = Attribute(known: "tomb")
    public static let digest = Attribute(known: "sha1")
    public static let viewHint = Attribute(known: "vwht")
    public static let tokenID = Attribute(known: "tkid")
    /// Which object of its token a key is: its public half. Apple's private `kSecAttrTokenOID`; callers cannot give it.
    public static let tokenObject = Attribute(known: "toid")
    public static let sharingGroup = Attribute(known: "ggrp")
    public static let multiUser = Attribute(known: "musr")
    public static let appClip = Attribute(known: "clip")
    public static let syncUUID = Attribute(known: "UUID")
    public static let systemBound = Attribute(known: "sysb")
    public static let plaintextService = Attribute(known: "pcss")
    public static let plaintextKey = Attribute(known: "pcsk")
    public static let plaintextIdentity = Attribute(known: "pcsi")

    // Passwords
    public static let account = Attribute(known: "acct")
    public static let service = Attribute(known: "svce")
    public static let generic = Attribute(known: "gena")
    public static let itemDescription = Attribute(known: "desc")
    public static let comment = Attribute(known: "icmt")
    public static let creator = Attribute(known: "crtr")
    public static let type = Attribute(known: "type")
    public static let scriptCode = Attribute(known: "scrp")
    public static let alias = Attribute(known: "alis")
    public static let isInvisible = Attribute(known: "invi")
    public static let isNegative = Attribute(known: "nega")
    public static let hasCustomIcon = Attribute(known: "cusi")
    public static let protection = Attribute(known: "prot")

    // Internet passwords
    public static let securityDomain = Attribute(known: "sdmn")
    public static let server = Attribute(known: "srvr")
    public static let `protocol` = Attribute(known: "ptcl")
    public static let authenticationType = Attribute(known: "atyp")
    public static let port = Attribute(known: "port")
    public static let path = Attribute(known: "path")
    public static let extraNotes = Attribute(known: "binn")
    public static let extraHistory = Attribute(known: "bini")
    public static let extraClient0 = Attribute(known: "bin0")
    public static let extraClient1 = Attribute(known: "bin1")
    public static let extraClient2 = Attribute(known: "bin2")
    public static let extraClient3 = Attribute(known: "bin3")

    // Certificates
    public static let certificateType = Attribute(known: "ctyp")
    public static let issuer = Attribute(known: "issr")
    public static let serialNumber = Attribute(known: "slnr")
    public static let certificateEncoding = Attribute(known: "cenc")
    public static let subject = Attribute(known: "subj")
    public static let subjectKeyID = Attribute(known: "skid")
    public static let publicKeyHash = Attribute(known: "pkhh")

    // Keys
    public static let keyClass = Attribute(known: "kcls")
    public static let applicationLabel = Attribute(known: "klbl")
    public static let applicationTag = Attribute(known: "atag")
    public static let keySizeInBits = Attribute(known: "bsiz")
    public static let effectiveKeySize = Attribute(known: "esiz")
    public static let startDate = Attribute(known: "sdat")
    public static let endDate = Attribute(known: "edat")
    public static let isPermanent = Attribute(known: "perm")
    public static let isPrivate = Attribute(known: "priv")
    public static let isModifiable = Attribute(known: "modi")
    public static let isSensitive = Attribute(known: "sens")
    public static let wasAlwaysSensitive = Attribute(known: "asen")
    public static let isExtractable = Attribute(known: "extr")
    public static let wasNeverExtractable = Attribute(known: "next")
    public static let canEncrypt = Attribute(known: "encr")
    public static let canDecrypt = Attribute(known: "decr")
    public static let canDerive = Attribute(known: "drve")
    public static let canSign = Attribute(known: "sign")
    public static let canVerify = Attribute(known: "vrfy")
    public static let canSignRecover = Attribute(known: "snrc")
    public static let canVerifyRecover = Attribute(known: "vyrc")
    public static let canWrap = Attribute(known: "wrap")
    public static let canUnwrap = Attribute(known: "unwp")
}
