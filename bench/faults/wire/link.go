package wire

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// link is one connection through the proxy.
type link struct {
	ctx            context.Context // of the proxy
	client, server net.Conn
	faults         *armed
	track          *tracker
	loggedIn       atomic.Bool
}

var errCut = errors.New("wire: cut")

// run passes on both directions, and ends both when one has ended.
func (l *link) run() {
	defer l.cut()
	in := bufio.NewReader(l.client)
	if !l.startup(in) {
		return
	}
	var both sync.WaitGroup
	for _, d := range []struct {
		to   Direction
		from io.Reader
		into net.Conn
	}{{ToServer, in, l.server}, {ToClient, bufio.NewReader(l.server), l.client}} {
		both.Go(func() {
			defer l.cut()
			for l.pass(d.to, d.from, d.into) == nil {
			}
		})
	}
	both.Wait()
}

const cancelRequest = 80877102

// startup passes on the first message, which has no type. A request to cancel
// has no answer.
func (l *link) startup(in io.Reader) bool {
	var length [4]byte
	if _, err := io.ReadFull(in, length[:]); err != nil {
		return false
	}
	payload, err := readPayload(in, length[:])
	if err != nil || len(payload) < 4 {
		return false
	}
	if _, err := l.server.Write(append(length[:], payload...)); err != nil {
		return false
	}
	if binary.BigEndian.Uint32(payload) == cancelRequest {
		_, _ = io.Copy(io.Discard, l.server) // until the server has seen it and closes
		return false
	}
	return true
}

// cut ends both ends at once. What the kernel still has to send is dropped.
func (l *link) cut() {
	for _, conn := range []net.Conn{l.client, l.server} {
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // a connection that has gone is gone
		}
		_ = conn.Close() // so is one that is closed twice
	}
}

// pass passes on one message, and does to it what is armed.
func (l *link) pass(to Direction, from io.Reader, into net.Conn) error {
	m, err := readMessage(from)
	if err != nil {
		return err
	}
	m.To = to
	m.Commits = l.track.sees(m)
	var fault *Fault
	if l.loggedIn.Load() {
		fault = l.faults.take(m)
	}
	if to == ToClient && m.Type == 'Z' {
		l.loggedIn.Store(true)
	}
	if fault == nil {
		_, err := into.Write(m.bytes())
		return err
	}
	return l.inflict(fault, m.bytes(), from, into)
}

// inflict lets a fault happen at a message, in front of the byte that its
// moment says.
func (l *link) inflict(f *Fault, message []byte, from io.Reader, into net.Conn) error {
	split := map[Moment]int{Before: 0, Inside: len(message) / 2, After: len(message)}[f.When]
	if _, err := into.Write(message[:split]); err != nil {
		return err
	}
	switch {
	case f.Delay == 0:
		return errCut
	case f.Silent:
		l.swallow(f.Delay, from)
		return errCut
	}
	select {
	case <-time.After(f.Delay):
	case <-l.ctx.Done():
		return errCut
	}
	_, err := into.Write(message[split:])
	return err
}

// swallow reads and forgets for a time. An end that closes its side meanwhile is
// not told on: the other one finds out by its own means.
func (l *link) swallow(d time.Duration, from io.Reader) {
	over := time.NewTimer(d)
	defer over.Stop()
	go func() { _, _ = io.Copy(io.Discard, from) }() // until the connection is cut
	select {
	case <-over.C:
	case <-l.ctx.Done():
	}
}
