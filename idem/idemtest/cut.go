package idemtest

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// CutPoint says when a Cutter cuts a connection.
type CutPoint int

// The points at which a connection is cut.
const (
	// CutBefore: the message with the text does not reach the server.
	CutBefore CutPoint = iota
	// CutAnswer: from that message on the server works until no transaction is
	// open; that it is ready again does not reach the client. What was sent is
	// committed, and the client can't know.
	CutAnswer
)

// Cutter loses connections on purpose, one each time it is armed. It is safe
// for concurrent use. Encrypted connections pass unseen.
type Cutter struct {
	mu    sync.Mutex
	armed bool
	fired bool
	at    CutPoint
	text  []byte
}

// Watch lets the connections of a pool pass through the cutter.
func (c *Cutter) Watch(config *pgxpool.Config) {
	config.ConnConfig.AfterNetConnect = func(_ context.Context, _ *pgconn.Config, conn net.Conn) (net.Conn, error) {
		return &cutConn{Conn: conn, cutter: c}, nil
	}
}

// Arm lets the next connection that sends the text be cut.
func (c *Cutter) Arm(at CutPoint, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.armed, c.fired, c.at, c.text = true, false, at, []byte(text)
}

// Disarm ends that, and reports whether a connection was cut.
func (c *Cutter) Disarm() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.armed = false
	return c.fired
}

// takes reports whether bytes on their way to the server are those waited for.
// Only one connection is told so.
func (c *Cutter) takes(sent []byte) (at CutPoint, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.armed || !bytes.Contains(sent, c.text) {
		return 0, false
	}
	c.armed = false
	c.fired = c.at == CutBefore
	return c.at, true
}

func (c *Cutter) fire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fired = true
}

// cutConn is a connection that may be cut.
type cutConn struct {
	net.Conn
	cutter *Cutter

	mu    sync.Mutex
	ready *readyScanner // set: cut where it finds that the server is ready
}

// Write implements net.Conn.
func (c *cutConn) Write(p []byte) (int, error) {
	if at, ok := c.cutter.takes(p); ok {
		if at == CutBefore {
			_ = c.Close()
			return 0, io.ErrClosedPipe
		}
		c.mu.Lock()
		c.ready = &readyScanner{}
		c.mu.Unlock()
	}
	return c.Conn.Write(p)
}

// Read implements net.Conn.
func (c *cutConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.mu.Lock()
	cut := c.ready != nil && c.ready.found(p[:n])
	c.mu.Unlock()
	if cut {
		c.cutter.fire()
		_ = c.Close()
		return 0, io.ErrUnexpectedEOF
	}
	return n, err
}

// readyScanner finds the message ReadyForQuery with status "idle" in what the
// server sends. It must begin between two messages.
type readyScanner struct {
	head []byte // of the current message: type, length, and the first byte of what follows
	skip int
}

func (s *readyScanner) found(p []byte) bool {
	for _, b := range p {
		if s.skip > 0 {
			s.skip--
			continue
		}
		s.head = append(s.head, b)
		if len(s.head) < 5 {
			continue
		}
		size := int(binary.BigEndian.Uint32(s.head[1:5])) - 4
		if s.head[0] == 'Z' {
			if len(s.head) < 6 {
				continue
			}
			if s.head[5] == 'I' {
				return true
			}
			size = 0
		}
		s.head, s.skip = s.head[:0], size
	}
	return false
}
