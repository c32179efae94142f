public import WireValues

/// Which file it is, whatever its name: device, inode and time of birth.
public typealias FileIdentity = WireValues.FileIdentity
