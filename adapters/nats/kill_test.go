package idemnats_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	idemnats "github.com/idemgen/idemgen/adapters/nats"
	"github.com/idemgen/idemgen/idem/consume"
)

// What a child process is told: the database, and where NATS is.
const (
	childDatabase = "IDEMNATS_TEST_DATABASE"
	childNATS     = "IDEMNATS_TEST_NATS"
)

// killWait is how long NATS waits for the acknowledgement of a process that is gone.
const killWait = time.Second

// killed is a durable consumer of a shelf, which child and test use alike.
func killed(ctx context.Context, js jetstream.JetStream, pool *pgxpool.Pool) (*idemnats.Consumer, error) {
	messages, err := js.CreateOrUpdateConsumer(ctx, "orders", jetstream.ConsumerConfig{Durable: "killed", AckPolicy: jetstream.AckExplicitPolicy, AckWait: killWait})
	if err != nil {
		return nil, err
	}
	s := &shelf{pool: pool, then: func(consume.Message) {}}
	return &idemnats.Consumer{Messages: messages, Stream: js, Handler: s,
		Settings: consume.Settings{MaxAttempts: 3, Delay: func(int) time.Duration { return 10 * time.Millisecond }}}, nil
}

// consumeUntilKilled is the child. It ends with the test that has started it, too.
func consumeUntilKilled() {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	if err := consumeAll(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func consumeAll(ctx context.Context) error {
	pool, err := pgxpool.New(ctx, os.Getenv(childDatabase))
	if err != nil {
		return err
	}
	conn, err := nats.Connect(os.Getenv(childNATS))
	if err != nil {
		return err
	}
	js, err := jetstream.New(conn)
	if err != nil {
		return err
	}
	c, err := killed(ctx, js, pool)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	return c.Run(ctx)
}

func startChild(t *testing.T, database, natsURL string) *exec.Cmd {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childDatabase+"="+database, childNATS+"="+natsURL)
	child.Stderr = os.Stderr
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = child.Process.Kill() // it may have ended already
		_ = child.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the child says %q: %v", line, err)
	}
	return child
}

// kills is how often a process is killed: 10 times, or as CONSUMER_KILLS says.
func kills(t *testing.T) int {
	text := os.Getenv("CONSUMER_KILLS")
	if text == "" {
		return 10
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("CONSUMER_KILLS=%s is no number of kills", text)
	}
	return n
}

// A consumer's process is killed again and again under load. Every message has one
// effect, however often it was published and delivered, and what can't be consumed is
// among the dead letters: what can't be read, and what fails each time. A hundred kills:
//
//	CONSUMER_KILLS=100 go test -run TestKilledConsumerLosesNothing
func TestKilledConsumerLosesNothing(t *testing.T) {
	js, _ := newStream(t)
	if _, err := js.CreateOrUpdateStream(t.Context(), jetstream.StreamConfig{Name: "dead", Subjects: []string{"dead.>"}}); err != nil {
		t.Fatal(err)
	}
	s := newShelf(t)
	if _, err := s.pool.Exec(t.Context(), "ALTER TABLE effects ADD CHECK (n >= 0)"); err != nil {
		t.Fatal(err)
	}
	const perKill, before = 60, 25
	var good int
	var poison []string
	for round := range kills(t) {
		child := startChild(t, s.pool.Config().ConnString(), js.Conn().ConnectedUrl())
		for n := range perKill {
			id := fmt.Sprintf("m-%d-%d", round, n)
			publish(t, js, id, fmt.Sprintf(`{"n": %d}`, n))
			if n%5 == 0 {
				publish(t, js, id, fmt.Sprintf(`{"n": %d}`, n)) // once more
			}
			if n%20 == 0 {
				bad := []string{fmt.Sprintf("unreadable %s", id), fmt.Sprintf(`{"n": -%d%03d}`, round+1, n)}
				publish(t, js, "bad-"+id, bad[0])
				publish(t, js, "sad-"+id, bad[1])
				poison = append(poison, bad...)
			}
		}
		target := good + before
		good += perKill
		until(t, func() bool { effects, _ := s.counts(t); return effects >= target })
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = child.Wait()
	}
	if effects, _ := s.counts(t); effects == good {
		t.Error("it was never killed under load")
	}
	c, err := killed(t.Context(), js, s.pool)
	if err != nil {
		t.Fatal(err)
	}
	if err := run(t, c, settled(t, c)); err != nil {
		t.Fatal(err)
	}
	if effects, messages := s.counts(t); effects != good || messages != good {
		t.Errorf("%d effects of %d messages, of %d that were published", effects, messages, good)
	}
	dead := deadLetters(t, js)
	for _, body := range poison {
		if dead[body] == 0 {
			t.Errorf("%s is no dead letter", body)
		}
		delete(dead, body)
	}
	if len(dead) > 0 {
		t.Errorf("dead letters that are none: %v", dead)
	}
}

// deadLetters are the bodies of what was given up.
func deadLetters(t *testing.T, js jetstream.JetStream) map[string]int {
	t.Helper()
	stream, err := js.Stream(t.Context(), "dead")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	state := stream.CachedInfo().State
	for seq := max(state.FirstSeq, 1); seq <= state.LastSeq; seq++ {
		m, err := stream.GetMsg(t.Context(), seq)
		if err != nil {
			t.Fatal(err)
		}
		if m.Header.Get(consume.HeaderReason) == "" {
			t.Errorf("%s has no reason", m.Data)
		}
		found[string(m.Data)]++
	}
	return found
}
