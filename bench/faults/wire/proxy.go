package wire

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"
)

// Proxy listens on the loopback address and passes connections on to a server
// that may be replaced. It is safe for concurrent use.
type Proxy struct {
	armed
	listener net.Listener
	done     context.CancelFunc
	ctx      context.Context
	running  sync.WaitGroup

	mu       sync.Mutex
	upstream string
	links    map[*link]struct{}
}

// Listen starts a proxy to a server's address, as in 127.0.0.1:5432.
func Listen(upstream string) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: listener, upstream: upstream, links: map[*link]struct{}{}}
	p.ctx, p.done = context.WithCancel(context.Background())
	p.running.Go(p.accept)
	return p, nil
}

// Address is where the proxy listens.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// SetUpstream changes where new connections go to.
func (p *Proxy) SetUpstream(address string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.upstream = address
}

// Close cuts all connections and waits until nothing of the proxy runs.
func (p *Proxy) Close() error {
	p.done()
	err := p.listener.Close()
	p.CutAll()
	p.running.Wait()
	return err
}

// CutAll cuts every connection, as the loss of a network path does.
func (p *Proxy) CutAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.cut()
	}
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue // the client has gone
		}
		p.running.Go(func() { p.serve(client) })
	}
}

// serve passes on one connection until one of its ends is gone.
func (p *Proxy) serve(client net.Conn) {
	p.mu.Lock()
	upstream := p.upstream
	p.mu.Unlock()
	dialer := net.Dialer{Timeout: 5 * time.Second}
	server, err := dialer.DialContext(p.ctx, "tcp", upstream)
	if err != nil {
		_ = client.Close() // it sees the end of the connection, as if there were no server
		return
	}
	l := &link{ctx: p.ctx, client: client, server: server, faults: &p.armed, track: newTracker()}
	p.mu.Lock()
	p.links[l] = struct{}{}
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.links, l)
		p.mu.Unlock()
	}()
	if p.ctx.Err() != nil { // Close may have missed it
		l.cut()
	}
	l.run()
}
