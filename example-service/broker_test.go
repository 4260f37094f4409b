package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/idemgen/idemgen/idem/idemtest"
)

// natsServer is a NATS server of this test, the program that Debian has.
func natsServer(t *testing.T) (url string) {
	t.Helper()
	program, err := exec.LookPath("nats-server")
	if err != nil {
		t.Skip("there is no nats-server here: apt-get install nats-server")
	}
	dir := t.TempDir()
	server := exec.Command(program, "-a", "127.0.0.1", "-p", "-1", "-js", "-sd", dir, "--ports_file_dir", dir)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill() // it may have ended already
		_ = server.Wait()
	})
	file := filepath.Join(dir, fmt.Sprintf("nats-server_%d.ports", server.Process.Pid))
	var ports struct{ NATS []string }
	for deadline := time.Now().Add(30 * time.Second); len(ports.NATS) == 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the NATS server does not say where it listens")
		}
		if text, err := os.ReadFile(file); err == nil {
			_ = json.Unmarshal(text, &ports) // it may be half written
		}
	}
	return ports.NATS[0]
}

// With NATS_URL the service consumes orders: each once, however often it is published,
// and what is none is kept among the dead letters. It ends with what it has begun.
func TestOrdersArriveByTheBroker(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the service")
	}
	broker := natsServer(t)
	url := idemtest.URL(t, emptyDatabase)
	p := start(t, build(t, "."), 0, "DATABASE_URL="+url, "NATS_URL="+broker)
	s := &service{pool: idemtest.Open(t, url, nil)}
	conn, err := nats.Connect(broker)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	publish := func(id string, order, items int) {
		t.Helper()
		m := nats.NewMsg("order.created")
		from := orderCreated(id, "acme", order, items)
		m.Data = from.Body
		m.Header.Set("Idempotency-Key", id)
		m.Header.Set("Scope", "acme")
		for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) { // until the service has made the stream
			_, err := js.PublishMsg(t.Context(), m)
			if err == nil {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%v\n%s", err, p.log)
			}
		}
	}
	for range 3 {
		publish("m-1", 1, 3)
	}
	publish("m-2", 2, 0) // nothing to send
	publish("m-3", 3, 1)
	settled := func() bool {
		messages, err := js.Consumer(t.Context(), "orders", "payments")
		if err != nil {
			return false
		}
		info := messages.CachedInfo()
		return info.NumPending == 0 && info.NumAckPending == 0 && info.Delivered.Stream >= 5
	}
	for deadline := time.Now().Add(30 * time.Second); !settled(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("messages are left\n%s", p.log)
		}
	}
	if got := query[string](t, s.pool, "SELECT string_agg(order_id || ' ' || items || ' ' || tenant_id, ', ' ORDER BY order_id) FROM shipments"); got != "1 3 acme, 3 1 acme" {
		t.Errorf("shipments: %s", got)
	}
	dead, err := js.Stream(t.Context(), "dead")
	if err != nil {
		t.Fatal(err)
	}
	if letter, err := dead.GetLastMsgForSubject(t.Context(), "dead.order.created"); err != nil || letter.Header.Get("Idem-Dead-Code") != "nothing_to_send" || dead.CachedInfo().State.Msgs != 1 {
		t.Errorf("%+v %v", letter, err)
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := <-p.ended; err != nil {
		t.Errorf("it ends with %v\n%s", err, p.log)
	}
}

// A broker that is not there ends the start with its name.
func TestWithoutTheBrokerThatIsNamed(t *testing.T) {
	t.Setenv("NATS_URL", "nats://127.0.0.1:1")
	s := newService(t)
	if err := consumeBroker(t.Context(), nil, s.api); err == nil || err.Error()[:8] != "NATS_URL" {
		t.Errorf("%v", err)
	}
}
