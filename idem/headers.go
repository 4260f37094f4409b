package idem

import "strings"

// neverStored are headers of one connection or one client, not of a response
// that is sent again; and those that the runtime sets itself.
var neverStored = map[string]bool{
	"set-cookie": true, "authorization": true, "www-authenticate": true, "date": true,
	"connection": true, "keep-alive": true, "proxy-authenticate": true, "proxy-authorization": true,
	"proxy-connection": true, "te": true, "trailer": true, "transfer-encoding": true, "upgrade": true,
	"content-length":  true,
	"idempotency-key": true, "idempotent-replayed": true, "x-should-retry": true, "retry-after": true,
}

// storable leaves out the headers that are never stored.
func storable(headers map[string]string) map[string]string {
	kept := make(map[string]string, len(headers))
	for name, value := range headers {
		if !neverStored[strings.ToLower(name)] {
			kept[name] = value
		}
	}
	return kept
}
