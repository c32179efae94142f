public import WireValues

/// Identifies a file, whatever its name is: device, inode and time of birth.
public typealias FileIdentity = WireValues.FileIdentity
