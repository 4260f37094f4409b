package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/idem/idemtest"
)

// build makes a binary of the service whose source is in dir.
func build(t *testing.T, dir string, env ...string) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "service")
	runIn(t, dir, env, "go", "build", "-o", binary, ".")
	return binary
}

// runIn runs a program and fails with what it printed.
func runIn(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// process is a running service.
type process struct {
	cmd   *exec.Cmd
	url   string
	log   *tail
	ended chan error
	// printed is what was printed up to what the start waited for.
	printed string
}

// tail keeps what a process logs, for when a test fails.
type tail struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *tail) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *tail) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

var listening = regexp.MustCompile(`listening on (http://\S+)`)

// start starts a binary on a free port and returns when it has printed where it
// listens, and after that so many requests to try.
func start(t *testing.T, binary string, toTry int, env ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(binary), log: &tail{}, ended: make(chan error, 1)}
	p.cmd.Env = append(withoutDatabase(os.Environ()), "ADDR=127.0.0.1:0")
	p.cmd.Env = append(p.cmd.Env, env...)
	p.cmd.Stderr = p.log
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	lines := bufio.NewScanner(out)
	for (!listening.MatchString(p.printed) || strings.Count(p.printed, "curl ") < toTry) && lines.Scan() {
		p.printed += lines.Text() + "\n"
	}
	go func() {
		_, _ = io.Copy(p.log, out) // until the process ends
		p.ended <- p.cmd.Wait()
		close(p.ended)
	}()
	found := listening.FindStringSubmatch(p.printed)
	if found == nil {
		p.kill()
		t.Fatalf("the service does not say where it listens: %s\n%s", p.printed, p.log)
	}
	p.url = found[1]
	return p
}

func withoutDatabase(env []string) []string {
	return slices.DeleteFunc(env, func(v string) bool {
		return strings.HasPrefix(v, "DATABASE_URL=") || strings.HasPrefix(v, "ADDR=")
	})
}

// kill ends the process as a crash does, and waits for its end.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended already
	<-p.ended
}

// curl is one of the printed commands.
type curl struct {
	url, body string
	header    http.Header
}

var curlParts = regexp.MustCompile(`^curl -i (\S+)((?: -H '[^']*')+) -d '([^']*)'$`)
var curlHeader = regexp.MustCompile(`-H '([^:']+): ([^']*)'`)

func curls(t *testing.T, printed string) []curl {
	t.Helper()
	var found []curl
	for line := range strings.Lines(printed) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "curl ") {
			continue
		}
		parts := curlParts.FindStringSubmatch(line)
		if parts == nil {
			t.Fatalf("a curl line of another form: %s", line)
		}
		c := curl{url: parts[1], body: parts[3], header: http.Header{}}
		for _, h := range curlHeader.FindAllStringSubmatch(parts[2], -1) {
			c.header.Add(h[1], h[2])
		}
		found = append(found, c)
	}
	return found
}

func (c curl) send(t *testing.T, h *http.Client) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "POST", c.url, strings.NewReader(c.body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = c.header.Clone()
	got, err := do(h, req)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// httpClient keeps no connections when the test is over.
func httpClient(t testing.TB) *http.Client {
	transport := &http.Transport{MaxIdleConnsPerHost: 32}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: time.Minute}
}

// The service as somebody tries it: without a database of its own, by the two
// printed commands. It ends in order, and leaves nothing behind.
func TestTheBinary(t *testing.T) {
	scratch := openFolder(t)
	p := start(t, build(t, "."), 2, "TMPDIR="+scratch)
	h := httpClient(t)

	printed := curls(t, p.printed)
	if len(printed) != 2 {
		t.Fatalf("%d curl lines: %s", len(printed), p.printed)
	}
	first := printed[0].send(t, h)
	first.must(t, 201)
	if first.replayed() {
		t.Error("the first request is a replay")
	}
	printed[1].send(t, h).replays(t, first)
	printed[0].send(t, h).replays(t, first)

	files, err := filepath.Glob(filepath.Join(scratch, "*", "data", "postmaster.pid"))
	if err != nil || len(files) != 1 {
		t.Fatalf("no private PostgreSQL in its folder: %v %v", files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	server, err := strconv.Atoi(strings.SplitN(string(text), "\n", 2)[0])
	if err != nil || syscall.Kill(server, 0) != nil {
		t.Fatalf("PostgreSQL %d does not run: %v", server, err)
	}

	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := <-p.ended; err != nil {
		t.Errorf("the service ended with %v\n%s", err, p.log)
	}
	if err := syscall.Kill(server, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("PostgreSQL %d still runs: %v", server, err)
	}
	left, err := os.ReadDir(scratch)
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// openFolder is a temporary folder that other users may enter: PostgreSQL does
// not run as root.
func openFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "service-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Killed in the middle of load, and started again: every key has one effect,
// what was acknowledged is answered with the same bytes, nothing is stuck.
func TestCase_crash_1(t *testing.T) {
	binary, url := build(t, "."), idemtest.URL(t, emptyDatabase)
	p := start(t, binary, 0, "DATABASE_URL="+url)
	pool := idemtest.Open(t, url, nil)
	c := &client{&service{pool: pool, url: p.url, http: httpClient(t)}, "acme", keyFrom(t, binary, url, "acme")}
	a, b := c.account(t, 100_000), c.account(t, 0)

	load := newLoad(a, b)
	load.untilKilled(t, c, p)
	acknowledged := load.answers
	if len(acknowledged) < killAfter || len(acknowledged) == len(load.requests) {
		t.Fatalf("%d of %d requests were answered before the end", len(acknowledged), len(load.requests))
	}

	c.url = start(t, binary, 0, "DATABASE_URL="+url).url
	replays := 0
	for i, got := range together(len(load.requests), func(i int) answer { return c.send(t, load.requests[i]) }) {
		got.must(t, 201)
		if first, ok := acknowledged[i]; ok {
			got.replays(t, first)
		}
		if got.replayed() {
			replays++
		}
	}
	t.Logf("%d acknowledged, %d done, of %d", len(acknowledged), replays, len(load.requests))
	checkLoad(t, pool, c, len(load.requests), b)
}

// keyFrom is an API key as an operator makes one.
func keyFrom(t *testing.T, binary, url, tenant string) string {
	t.Helper()
	return strings.TrimSpace(runIn(t, ".", []string{"DATABASE_URL=" + url}, binary, "-new-key", tenant))
}

// killAfter is how many answers come before the process is killed.
const killAfter = 150

// load is requests that many clients send until the service is killed.
type load struct {
	requests []request
	mu       sync.Mutex
	answers  map[int]answer // by request
}

// newLoad has payments, transfers and orders in turn: every strategy.
func newLoad(a, b string) *load {
	l := &load{answers: map[int]answer{}}
	for i := range 600 {
		r := request{method: "POST", path: "/v1/payments", body: paymentBody(fmt.Sprint("order-", i))}
		switch i % 3 {
		case 1:
			r.path, r.body = "/v1/transfers", transferBody(a, b, 10)
		case 2:
			r.path, r.body = "/v1/orders", orderBody(pen)
		}
		l.requests = append(l.requests, r.with(fmt.Sprint("key-", i)))
	}
	return l
}

// untilKilled sends all requests in order from several clients, kills the
// process meanwhile, and keeps the answers that arrived whole.
func (l *load) untilKilled(t *testing.T, c *client, p *process) {
	t.Helper()
	var next atomic.Int64
	var wg sync.WaitGroup
	enough := make(chan struct{})
	var once sync.Once
	for range 16 {
		wg.Go(func() {
			for {
				i := int(next.Add(1) - 1)
				if i >= len(l.requests) {
					return
				}
				got, err := c.try(t.Context(), l.requests[i])
				if err != nil {
					return // the service is gone
				}
				if got.status != 201 {
					t.Errorf("%d %s", got.status, got.body)
				}
				l.mu.Lock()
				l.answers[i] = got
				if len(l.answers) >= killAfter {
					once.Do(func() { close(enough) })
				}
				l.mu.Unlock()
			}
		})
	}
	select {
	case <-enough:
	case <-time.After(time.Minute):
		t.Error("the load takes too long")
	}
	p.kill()
	wg.Wait()
}

// checkLoad: one effect per key, and one record.
func checkLoad(t *testing.T, pool *pgxpool.Pool, c *client, n int, to string) {
	t.Helper()
	each := n / 3
	for what, sql := range map[string]string{
		"payments":    "SELECT count(*) FROM payments",
		"transfers":   "SELECT count(*) FROM transfers",
		"orders":      "SELECT count(*) FROM orders",
		"order lines": "SELECT count(*) FROM order_lines",
		"records":     "SELECT count(*) / 3 FROM idem.keys WHERE key LIKE 'key-%' AND status = 201",
	} {
		if got := query[int](t, pool, sql); got != each {
			t.Errorf("%d %s, not %d", got, what, each)
		}
	}
	if got := c.balance(t, to); got != each*10 {
		t.Errorf("%d were transferred, not %d", got, each*10)
	}
	checkBooks(t, c, 100_000)
}
