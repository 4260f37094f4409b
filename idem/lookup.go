package idem

// KeyDigest is the column digest of idem.keys: with its scope a key is found by
// it. The operation is the stored one, service.Operation. For tools that look
// into the table.
func KeyDigest(operation, key string) []byte { return digestOf(operation, key) }

// KeyLock is the number of the advisory lock that a running request holds, where
// its strategy takes one: those of several statements, and inflight=reject. For
// tools that free a key.
func KeyLock(scope, operation, key string) int64 { return lockOf(scope, operation, key) }
