package client

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// peekSize bounds what is read of an answer to judge it, or to free its connection.
const peekSize = 64 << 10

// source makes the request body of each try.
type source struct {
	first io.ReadCloser // of the first try; nil: no body
	again func() (io.ReadCloser, error)
}

// sourceOf finds out how often a body can be sent. One that can't be read twice is
// read into memory first, if it fits.
func sourceOf(r *http.Request, buffer int64) (source, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return source{again: func() (io.ReadCloser, error) { return nil, nil }}, nil
	}
	if r.GetBody != nil {
		return source{first: r.Body, again: r.GetBody}, nil
	}
	if buffer <= 0 || r.ContentLength > buffer {
		return source{first: r.Body}, nil
	}
	data, err := io.ReadAll(io.LimitReader(r.Body, buffer+1))
	if err != nil {
		_ = r.Body.Close()
		return source{}, fmt.Errorf("client: read the request body: %w", err)
	}
	if int64(len(data)) > buffer {
		return source{first: joined{io.MultiReader(bytes.NewReader(data), r.Body), r.Body}}, nil
	}
	_ = r.Body.Close()
	again := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
	first, _ := again()
	return source{first: first, again: again}, nil
}

// joined reads from one thing and closes another.
type joined struct {
	io.Reader
	io.Closer
}

// peek reads the beginning of an answer's body and puts it back.
func peek(r *http.Response) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r.Body, peekSize))
	r.Body = joined{io.MultiReader(bytes.NewReader(data), r.Body), r.Body}
	return data, err
}

// dropTime bounds how long the end of an answer is waited for that nobody reads. The
// bounds of the call don't hold for it: its try is over.
const dropTime = 250 * time.Millisecond

// drop ends an answer that nobody reads, so that its connection can be used again if
// little of it is left, and comes soon.
func (t *tries) drop(r *http.Response) {
	if r == nil || r.Body == nil {
		return
	}
	timer := time.AfterFunc(dropTime, t.cut)
	defer timer.Stop()
	_, _ = io.CopyN(io.Discard, r.Body, peekSize)
	_ = r.Body.Close()
}

// ending is a body with something to do when it has been read or closed.
type ending struct {
	io.ReadCloser
	once sync.Once
	end  func()
}

func (b *ending) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.once.Do(b.end)
	}
	return n, err
}

func (b *ending) Close() error {
	err := b.ReadCloser.Close()
	b.once.Do(b.end)
	return err
}

// writable keeps what an answer's body can be written to, for protocols that were
// switched to (101).
type writable struct {
	*ending
	io.Writer
}

func withEnding(body io.ReadCloser, end func()) io.ReadCloser {
	wrapped := &ending{ReadCloser: body, end: end}
	if w, ok := body.(io.Writer); ok {
		return writable{wrapped, w}
	}
	return wrapped
}
