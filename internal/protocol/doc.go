// Package protocol holds small explicit models of what the runtime does between
// PostgreSQL and its clients: claims and records, sweeps, and calls with leases. Its tests visit every interleaving of
// three actors with crashes, lost answers and expiry, and look at each state: one
// effect, the same answer, nothing acknowledged lost, and always a way to an end.
//
// A model is worth what it would find. So each rule of a protocol can be taken
// out, and the tests say which violation that must lead to.
package protocol
