package idem

import (
	"fmt"
	"net/textproto"
)

// neverStored are headers of one connection or one client, not of a response
// that is sent again; and those that the runtime sets itself.
var neverStored = withOwnHeaders(map[string]bool{
	"Set-Cookie": true, "Authorization": true, "Www-Authenticate": true, "Date": true,
	"Connection": true, "Keep-Alive": true, "Proxy-Authenticate": true, "Proxy-Authorization": true,
	"Proxy-Connection": true, "Te": true, "Trailer": true, "Transfer-Encoding": true, "Upgrade": true,
	"Content-Length": true, sealedHeader: true, problemMark: true,
})

// storable leaves out the headers that are never stored.
func storable(headers map[string]string) map[string]string {
	if !holdsUnstorable(headers) {
		return headers // nearly always
	}
	kept := make(map[string]string, len(headers))
	for name, value := range headers {
		if !neverStored[textproto.CanonicalMIMEHeaderKey(name)] {
			kept[name] = value
		}
	}
	return kept
}

func holdsUnstorable(headers map[string]string) bool {
	for name := range headers {
		if neverStored[textproto.CanonicalMIMEHeaderKey(name)] {
			return true
		}
	}
	return false
}

// addHeaders reads a JSON object of strings into headers. A null adds nothing.
func addHeaders(headers map[string]string, text []byte) error {
	s := jsonScanner{data: text}
	if len(text) == 0 || s.peek() == 'n' {
		return nil
	}
	var wrong error
	err := s.object(func(name []byte) *Error {
		header := string(name)
		value, err := s.scalar()
		switch value.kind {
		case tokenString:
			headers[header] = string(value.text)
		case tokenNull:
		default:
			wrong = fmt.Errorf("idem: header %s is not a text", header)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("idem: headers: %w", err)
	}
	return wrong
}
