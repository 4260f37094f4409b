package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the transcript in docs/agents.md")

const transcriptPage = "../docs/agents.md"

// transcriptBlock is where the page has the transcript.
var transcriptBlock = regexp.MustCompile("(?s)(<!-- transcript -->\n```\n).*?(\n```)")

// host is an agent's host that runs the service as a program of its own.
type host struct {
	in  io.WriteCloser
	out *bufio.Scanner
	log strings.Builder
}

// send sends a message, one line, and reads the answer if there is one.
func (h *host) send(t *testing.T, message string) (answer string) {
	t.Helper()
	if _, err := io.WriteString(h.in, message+"\n"); err != nil {
		t.Fatal(err)
	}
	h.log.WriteString("→ " + message + "\n")
	if !strings.Contains(message, `"id"`) {
		return ""
	}
	if !h.out.Scan() {
		t.Fatalf("no answer to %s: %v", message, h.out.Err())
	}
	answer = shown(t, h.out.Text())
	h.log.WriteString("← " + answer + "\n")
	return answer
}

var instant = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z`)

// shown is a message as the page has it: its times are those of the page.
func shown(t *testing.T, message string) string {
	t.Helper()
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(message)); err != nil {
		t.Fatalf("%s: %v", message, err)
	}
	return instant.ReplaceAllString(compact.String(), "2026-01-31T12:00:00.000000Z")
}

// TestTranscript is a session of an MCP client with the service over stdio, as a
// process of its own: initialize, list, call twice. The page has it word for word.
func TestTranscript(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the service")
	}
	cmd := exec.CommandContext(t.Context(), build(t, "."), "-mcp", "acme")
	cmd.Env = append(withoutDatabase(os.Environ()), "DATABASE_URL="+newDatabase(t), "AGENT_SECRET=0123456789abcdef")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	h := &host{in: in, out: bufio.NewScanner(out)}
	h.out.Buffer(nil, 1<<20)
	h.send(t, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"agent","version":"1.0.0"}}}`)
	h.send(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	h.send(t, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	const call = `"method":"tools/call","params":{"name":"issue_invoice","arguments":{"order_id":"order-1","amount":1250,"currency":"EUR"},"_meta":{"session":"run-7","step":"1"}}}`
	first := h.send(t, `{"jsonrpc":"2.0","id":3,`+call)
	again := h.send(t, `{"jsonrpc":"2.0","id":4,`+call)
	content := func(answer string) string {
		var a struct {
			Result struct{ Content json.RawMessage }
		}
		if err := json.Unmarshal([]byte(answer), &a); err != nil || len(a.Result.Content) == 0 {
			t.Fatalf("%s: %v", answer, err)
		}
		return string(a.Result.Content)
	}
	if content(first) != content(again) || !strings.Contains(again, `"idempotencyReplayed":true`) {
		t.Errorf("called twice:\n%s\n%s", first, again)
	}
	h.send(t, `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"issue_invoice","arguments":{"order_id":"order-2","amount":1250,"currency":"EUR"}}}`)
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the service ended with %v", err)
	}
	checkTranscript(t, strings.TrimSuffix(h.log.String(), "\n"))
}

func checkTranscript(t *testing.T, got string) {
	t.Helper()
	page, err := os.ReadFile(transcriptPage)
	if err != nil {
		t.Fatal(err)
	}
	m := transcriptBlock.FindSubmatchIndex(page)
	if m == nil {
		t.Fatalf("%s has no transcript", transcriptPage)
	}
	want := string(page[m[3]:m[4]])
	if want == got {
		return
	}
	if !*update {
		t.Fatalf("%s has another transcript; run with -update\n%s", transcriptPage, got)
	}
	page = append(append(append([]byte{}, page[:m[3]]...), got...), page[m[4]:]...)
	if err := os.WriteFile(transcriptPage, page, 0o644); err != nil {
		t.Fatal(err)
	}
}
