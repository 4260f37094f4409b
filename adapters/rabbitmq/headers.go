package idemrabbit

import (
	"maps"
	"slices"
	"strings"

	amqp "github.com/rabbitmq/amqp091-go"
)

// frameRoom is kept for what is beside the headers in their frame: the other
// properties, most of them of 255 bytes at most.
const frameRoom = 4096

// fit leaves out the largest headers of a moved message until they fit into a frame
// with those that were added. The broker would end the connection otherwise, and that
// again whenever the message comes back. A frame of 0 or less has no bound.
func fit(headers amqp.Table, frame int) {
	size := sizeOf(headers)
	if frame <= 0 || size <= frame-frameRoom {
		return
	}
	names := slices.SortedFunc(maps.Keys(headers), func(a, b string) int { return sizeOf(headers[b]) - sizeOf(headers[a]) })
	for _, name := range names {
		if isOwn(name) {
			continue
		}
		size -= 1 + len(name) + sizeOf(headers[name])
		delete(headers, name)
		if size <= frame-frameRoom {
			return
		}
	}
}

// isOwn reports a header without which the message is not what it was.
func isOwn(name string) bool {
	return strings.HasPrefix(name, "Idem-Dead-") || slices.Contains([]string{headerAttempt, headerTopic, HeaderKey, HeaderScope}, name)
}

// sizeOf is how many bytes a field takes at most (AMQP 0-9-1, section 4.2.5).
func sizeOf(value any) int {
	const number = 9 // the type, and 8 bytes
	size := number
	switch v := value.(type) {
	case string:
		size += len(v)
	case []byte:
		size += len(v)
	case []any:
		for _, element := range v {
			size += sizeOf(element)
		}
	case amqp.Table:
		for name, element := range v {
			size += 1 + len(name) + sizeOf(element)
		}
	}
	return size
}
