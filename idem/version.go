package idem

// IsAtLeastVersion0_1 is used by emitted code to fail at compile time where
// the runtime is older than the generator that emitted it.
const IsAtLeastVersion0_1 = true
