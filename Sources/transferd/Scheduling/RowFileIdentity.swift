import Store

/// The store's idea of which file it is; the engine has one of its own, and a module named like its class cannot tell
/// them apart.
typealias RowFileIdentity = FileIdentity
