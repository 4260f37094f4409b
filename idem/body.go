package idem

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
)

// readDocument reads the request body whole: 415 for another media type, 413
// for one that is too large.
func (op *operation) readDocument(w http.ResponseWriter, r *http.Request) ([]byte, *Error) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	reader := io.Reader(r.Body)
	if limit := op.Policy.MaxBody; limit > 0 {
		reader = http.MaxBytesReader(w, r.Body, limit)
	}
	body, err := io.ReadAll(reader)
	if len(body) > 0 || err != nil {
		if refused := op.checkMedia(r.Header); refused != nil {
			return nil, refused
		}
	}
	return body, unread(err)
}

// checkMedia takes JSON in UTF-8; any media type where the body is bytes.
func (op *operation) checkMedia(header http.Header) *Error {
	for _, encoding := range header.Values("Content-Encoding") {
		if !strings.EqualFold(encoding, "identity") {
			return errMedia("Content-Encoding is not supported.")
		}
	}
	if op.takesBytes() {
		return nil
	}
	media, params, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil || !isJSON(media) || len(header.Values("Content-Type")) > 1 {
		return errMedia("Send application/json.")
	}
	if charset := params["charset"]; charset != "" && !strings.EqualFold(charset, "utf-8") {
		return errMedia("JSON is UTF-8.")
	}
	return nil
}

func errMedia(detail string) *Error {
	return &Error{Status: http.StatusUnsupportedMediaType, Code: "media-type", Title: "Unsupported media type", Detail: detail}
}

// isJSON: application/json, or a type with that structure (RFC 6839).
func isJSON(media string) bool {
	return media == "application/json" || strings.HasPrefix(media, "application/") && strings.HasSuffix(media, "+json")
}

func (op *operation) takesBytes() bool {
	for _, field := range op.Fields {
		if field.From == FromBody && op.BodyWhole {
			return field.Kind == KindBytea
		}
	}
	return false
}

// readRaw reads the body of a delivery as it was sent, whatever its media type says.
func readRaw(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, *Error) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	return body, unread(err)
}

// unread is the refusal of a body that could not be read to its end.
func unread(err error) *Error {
	if err == nil {
		return nil
	}
	if large := new(*http.MaxBytesError); errors.As(err, large) {
		return errBodyTooLarge()
	}
	return &Error{Status: http.StatusBadRequest, Code: "body-unreadable", Title: "The request body ended early"}
}

func errBodyTooLarge() *Error {
	return &Error{Status: http.StatusRequestEntityTooLarge, Code: "body-too-large", Title: "Request body too large"}
}
