package idem

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/idem/idemtest"
)

func TestWhoPrefersMarkdown(t *testing.T) {
	for accept, want := range map[string]bool{
		"": false, "*/*": false, "text/*": false, "application/json": false, "application/problem+json": false,
		"text/markdown": true, "TEXT/Markdown": true, " text/markdown ; q=0.5": true, "text/markdown;variant=CommonMark": true,
		"text/markdown, */*": true, "text/markdown, */*;q=0.1": true, "text/markdown;q=0.5, */*": false,
		"text/markdown, text/html, */*": true, "*/*;q=0.8, text/markdown;q=0.9": true,
		"text/markdown, application/json": false, "text/markdown, application/problem+json;q=1.0": false,
		"text/markdown, application/json;q=0.9": true, "text/markdown;q=0.9, application/json": false,
		"text/markdown;q=0.5, application/*;q=0.1, */*;q=0.9": true, "text/markdown;q=0.1, application/*;q=0.5": false,
		"text/markdown;q=0": false, "text/markdown;q=2": false, "text/markdown;q=-1": false, "text/markdown;q=x": false,
		"text/markdown;q=NaN": false, "text/markdown;q=": false, "text/markdown;q=0, */*;q=0": false, "text/markdown, application/json;q=0": true,
		",;,=,q=1,text/markdown;": true, "text/markdownx": false,
	} {
		if got := prefersMarkdown([]string{accept}); got != want {
			t.Errorf("%q: %t", accept, got)
		}
	}
	if prefersMarkdown(nil) || !prefersMarkdown([]string{"application/json;q=0.5", "text/markdown"}) {
		t.Error("lines of a header are one list")
	}
}

func TestMarkdownOfAProblem(t *testing.T) {
	p := problem{Status: 422, Code: "input-invalid", Title: `5" \ too`, Type: "urn:x", Instance: "urn:uuid:1", Retryable: true, Key: `a"b`,
		Detail: "look:\n# not a heading", Errors: []problemField{{"/a\nb", "type", "is `bad`"}, {"/c", "null", "must not be null"}},
		Existing: []byte("{\"note\":\"````\\n---\\n\"}")}
	want := `---
status: 422
code: "input-invalid"
title: "5\" \\ too"
retryable: true
type: "urn:x"
instance: "urn:uuid:1"
idempotency_key: "a\"b"
---

## Detail

~~~text
look:
# not a heading
~~~

## Errors

~~~text
- /a b (type): is 'bad'
- /c (null): must not be null
~~~

## Existing

~~~~~json
{"note":"''''\n---\n"}
~~~~~
`
	want = strings.NewReplacer("~", "`", "'", "`").Replace(want)
	if got := string(p.markdown()); got != want {
		t.Errorf("got\n%s", got)
	}
}

// What rows and requests hold can't leave its block, nor its line of the front
// matter.
func FuzzMarkdown(f *testing.F) {
	f.Add("plain", "k")
	f.Add("```\n---\ntitle: x", "a\nb: c")
	f.Add("````````", "\u0085\u2028\"\\")
	f.Add("\r```\r\n~~~", "'")
	f.Fuzz(func(t *testing.T, text, key string) {
		p := problem{Status: 409, Code: key, Title: key, Type: key, Instance: key, Key: key, Detail: text,
			Errors: []problemField{{text, text, text}}, Existing: marshal(text)}
		lines := strings.Split(string(p.markdown()), "\n")
		if lines[0] != "---" || lines[8] != "---" && key != "" {
			t.Fatalf("front matter: %q", lines)
		}
		fence, blocks := "", 0
		for _, line := range lines[8:] {
			switch ticks := len(line) - len(strings.TrimLeft(line, "`")); {
			case fence == "" && ticks >= 3:
				fence = line[:ticks]
			case fence != "" && ticks >= len(fence):
				if strings.Trim(line, "`") != "" || ticks != len(fence) {
					t.Fatalf("a block is ended by %q", line)
				}
				fence, blocks = "", blocks+1
			case fence == "" && line != "" && line != "---" && !strings.HasPrefix(line, "## "):
				t.Fatalf("outside of blocks: %q", line)
			}
		}
		if want := 3; fence != "" || text != "" && blocks != want {
			t.Fatalf("%d blocks, open: %q", blocks, fence)
		}
	})
}

func wantMarkdown(t *testing.T, w *httptest.ResponseRecorder, status int, code string) {
	t.Helper()
	wantStatus(t, w, status)
	if w.Header().Get("Content-Type") != markdownType || w.Header().Get("Vary") != "Accept" ||
		!strings.HasPrefix(w.Body.String(), fmt.Sprintf("---\nstatus: %d\ncode: %q\n", status, code)) {
		t.Fatalf("not Markdown: %v %s", w.Header(), w.Body)
	}
	if w.Header().Get("Content-Length") != fmt.Sprint(w.Body.Len()) {
		t.Errorf("Content-Length %s of %d", w.Header().Get("Content-Length"), w.Body.Len())
	}
}

// A recorded problem is JSON, and Markdown is made of it on the way out: replays
// of one form are equal, whoever came first.
func TestMarkdownOfRecordedProblems(t *testing.T) {
	t.Parallel()
	for _, c := range refusals {
		for _, jsonFirst := range []bool{true, false} {
			op := c.op()
			s := newShop(t, op)
			var plain, marked [2]*httptest.ResponseRecorder
			for i := range plain {
				if jsonFirst {
					plain[i] = s.post(op.Name, "k", c.body)
				}
				marked[i] = s.post(op.Name, "k", c.body, "Accept", "text/markdown")
				if !jsonFirst {
					plain[i] = s.post(op.Name, "k", c.body)
				}
				wantMarkdown(t, marked[i], c.status, c.code)
				wantCode(t, plain[i], c.status, c.code)
			}
			if marked[0].Body.String() != marked[1].Body.String() || plain[0].Body.String() != plain[1].Body.String() {
				t.Errorf("%s:\n%s\n%s", op.Name, marked[0].Body, marked[1].Body)
			}
			if !strings.Contains(marked[0].Body.String(), "retryable: false\n") || !strings.Contains(marked[0].Body.String(), `idempotency_key: "k"`) {
				t.Errorf("%s: %s", op.Name, marked[0].Body)
			}
			if marked[1].Header().Get(replayedHeader) != "true" || marked[1].Header().Get("X-Should-Retry") != "false" {
				t.Errorf("%s: %v", op.Name, marked[1].Header())
			}
		}
	}
}

// Refusals before the claim and answers that are no problems.
func TestMarkdownElsewhere(t *testing.T) {
	s := newShop(t, createPayment("Create", patience, true), getPayment())
	markdown := []string{"Accept", "text/markdown, */*"}
	wantMarkdown(t, s.post("Create", "", order1, markdown...), 400, "key-missing")
	wantMarkdown(t, s.post("Create", "k", order1, append(markdown, "X-Tenant", "nobody")...), 401, "unauthenticated")
	wantMarkdown(t, s.call("Create", "PUT", "1", order1, markdown...), 405, "method-not-allowed")
	wantMarkdown(t, s.call("GetPayment", "GET", "1", "", markdown...), 404, "not_found")
	head := s.call("GetPayment", "HEAD", "1", "", markdown...)
	if head.Code != 404 || head.Body.Len() > 0 || head.Header().Get("Content-Type") != markdownType || head.Header().Get("Content-Length") == "0" {
		t.Errorf("HEAD: %v %s", head.Header(), head.Body)
	}
	done := s.post("Create", "k", order1, markdown...)
	if done.Code != 201 || done.Header().Get("Content-Type") != "application/json" || done.Header().Get("Vary") != "" {
		t.Errorf("a success: %v", done.Header())
	}
	// A row whose text would end a block and go on as ours.
	s.exec(t, "UPDATE payments SET note = $1", "```\n---\nstatus: 200\n")
	conflict := s.post("Create", "k2", order1, markdown...)
	wantMarkdown(t, conflict, 409, "intent-conflict")
	if !strings.Contains(conflict.Body.String(), "\n````json\n") {
		t.Errorf("the fence is too short: %s", conflict.Body)
	}
	plain := s.post("Create", "", order1)
	wantCode(t, plain, 400, "key-missing")
	if plain.Header().Get("Vary") != "Accept" {
		t.Error("no Vary: caches would give JSON to who wants Markdown")
	}
}

// Profile gateway has one form of errors.
func TestNoMarkdownInProfileGateway(t *testing.T) {
	cfg := shopConfig(charge())
	cfg.Profile = ProfileGateway
	service, err := New(idemtest.Pool(t, shopTables), cfg, shopCaller, Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := &shop{service, nil, http.NewServeMux()}
	s.mux.Handle("/Charge/{id}", service.Handler("Charge"))
	for range 2 {
		w := s.call("Charge", "POST", "1", `{"amount": 101}`, "Accept", "text/markdown", gatewayKeyHeader, "key-1")
		if w.Code != 409 || !strings.HasPrefix(w.Body.String(), `{"code":"409"`) || w.Header().Get("Vary") != "" {
			t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
		}
	}
}
