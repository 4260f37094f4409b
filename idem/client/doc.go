// Package client calls idempotent HTTP operations: it makes keys, derives them
// from what an agent is about to do, and repeats a request that may have failed,
// with the same key every time. It works with idemgen's services, and with every
// other API that takes an idempotency key. It imports the standard library only.
//
// [Client.Do] and [Transport] repeat any request that is safe to repeat.
// [Client.Call] is what emitted clients are built on. [DeriveKey] makes the key of
// an agent's step.
package client

// EmittedVersion1 is named by emitted clients, so that one that needs a newer
// package does not compile with this one.
const EmittedVersion1 = true
