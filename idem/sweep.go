package idem

// Sweeper deletes expired keys.
type Sweeper struct{}
