package main

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"sync/atomic"
)

// tenant is whose keys all requests use: all of them are in one part of the
// primary key, where new ones land at random.
const tenant = "bench"

// amount is what every payment is of.
const amount = 100

// numbers makes every new request of a run a new one.
var numbers atomic.Int64

// request is one payment that a client asks for; the same number is the same request.
type request struct {
	number     int64
	key, order string
}

// requestOf is the request of a number. Keys are as clients make them: 36
// characters, in no order.
func requestOf(n int64) request {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], scattered(uint64(n)))
	binary.BigEndian.PutUint64(b[8:], uint64(n))
	key := fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
	return request{number: n, key: key, order: "order-" + strconv.FormatInt(n, 10)}
}

// scattered maps numbers to numbers in no order, two never to one (the finalizer
// of splitmix64).
func scattered(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// traffic is what a client sends: for each client, a function that gives its next
// request. Clients never share a key, so none waits for another's.
type traffic struct {
	name   string
	client func(client int) func() request
}

// newKeys are requests that nobody has sent before.
var newKeys = traffic{name: "new keys", client: func(int) func() request {
	return func() request { return requestOf(numbers.Add(1)) }
}}

// oneInTen is how often a client repeats itself in duplicates.
const oneInTen = 10

// duplicates are new keys, and in one of ten requests the one before once more.
var duplicates = traffic{name: "10 % duplicates", client: func(int) func() request {
	var last request
	sent := 0
	return func() request {
		if sent++; sent%oneInTen != 0 || sent == 1 {
			last = requestOf(numbers.Add(1))
		}
		return last
	}
}}

// known is how many keys each client has that replays repeats in turn.
const known = 16

// replays are requests that were sent before, from first on: known for each client.
func replays(first int64) traffic {
	return traffic{name: "replays", client: func(client int) func() request {
		sent := int64(0)
		return func() request {
			n := first + int64(client)*known + sent%known
			sent++
			return requestOf(n)
		}
	}}
}
