package diag

import (
	"errors"
	"strings"
	"testing"
)

func render(t *testing.T, d Diagnostic, text string, opts RenderOptions) string {
	t.Helper()
	var b strings.Builder
	source := func(file string) (string, bool) { return text, file == "q.sql" }
	if err := Render(&b, []Diagnostic{d}, source, opts); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestRenderForm is the example of the command's documentation.
func TestRenderForm(t *testing.T) {
	text := "-- name: A :one\n\n\n-- @intnet payments (tenant_id, order_id)\nSELECT 1;\n"
	d := Diagnostic{Code: UnknownWord, Severity: Error, Pos: Pos{"q.sql", 4, 4, 7}, Message: "unknown annotation @intnet", Hint: "did you mean @intent?"}
	want := `q.sql:4:4: error[IDEM012]: unknown annotation @intnet
   4 | -- @intnet payments (tenant_id, order_id)
     |    ^^^^^^^
  hint: did you mean @intent?
  more: idemgen explain IDEM012
`
	if got := render(t, d, text, RenderOptions{}); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestRenderCaret(t *testing.T) {
	for name, c := range map[string]struct {
		line       string
		col, width int
		want       string // the caret line behind the bar
	}{
		"plain":              {"abc def", 5, 3, "    ^^^"},
		"width 0":            {"abc", 2, 0, " ^"},
		"tabs are kept":      {"\t\tab", 3, 2, "\t\t^^"},
		"tab between":        {"a\tbc", 3, 1, " \t^"},
		"wide before":        {"名前 x", 8, 1, "     ^"},
		"wide marked":        {"x 名前", 3, 6, "  ^^^^"},
		"accents are narrow": {"été x", 7, 1, "    ^"},
		"combining":          {"e\u0301 x", 5, 1, "  ^"},
		"emoji":              {"😀 x", 6, 1, "   ^"},
		"past the end":       {"ab", 9, 4, "  ^"},
		"width past the end": {"abc", 3, 40, "  ^"},
		"carriage return":    {"ab\r", 1, 2, "^^"},
		"empty line":         {"", 1, 1, "^"},
		"escape is one wide": {"\x1bx", 2, 1, " ^"},
	} {
		got := render(t, Diagnostic{Code: QuerySyntax, Severity: Error, Pos: Pos{"q.sql", 1, c.col, c.width}, Message: "m"}, c.line, RenderOptions{})
		caretLine, ok := strings.CutPrefix(strings.Split(got, "\n")[2], "     | ")
		if !ok || caretLine != c.want {
			t.Errorf("%s: %q, want %q", name, caretLine, c.want)
		}
	}
}

func TestRenderPlaces(t *testing.T) {
	long := strings.Repeat("\n", 12344) + "x"
	for name, c := range map[string]struct {
		pos  Pos
		want string
	}{
		"no place":     {Pos{}, "error[IDEM023]: m\n"},
		"file only":    {Pos{File: "q.sql"}, "q.sql: error[IDEM023]: m\n"},
		"line only":    {Pos{File: "q.sql", Line: 12345}, "q.sql:12345: error[IDEM023]: m\n12345 | x\n"},
		"long number":  {Pos{File: "q.sql", Line: 12345, Col: 1}, "q.sql:12345:1: error[IDEM023]: m\n12345 | x\n      | ^\n"},
		"unknown file": {Pos{File: "other.sql", Line: 1, Col: 1}, "other.sql:1:1: error[IDEM023]: m\n"},
		"past the end": {Pos{File: "q.sql", Line: 99999, Col: 1}, "q.sql:99999:1: error[IDEM023]: m\n"},
	} {
		got := render(t, Diagnostic{Code: QuerySyntax, Severity: Error, Pos: c.pos, Message: "m"}, long, RenderOptions{})
		if want := c.want + "  more: idemgen explain IDEM023\n"; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestRenderExplainsEachCodeOnce(t *testing.T) {
	ds := []Diagnostic{{Code: NotYet, Severity: Error, Message: "a"}, {Code: NotYet, Severity: Warning, Message: "b"}, {Code: "X1", Severity: Error, Message: "c"}}
	var b strings.Builder
	if err := Render(&b, ds, nil, RenderOptions{}); err != nil {
		t.Fatal(err)
	}
	want := "error[IDEM010]: a\n  more: idemgen explain IDEM010\nwarning[IDEM010]: b\nerror[X1]: c\n"
	if b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

func TestRenderColor(t *testing.T) {
	d := Diagnostic{Code: QuerySyntax, Severity: Warning, Pos: Pos{"q.sql", 1, 2, 1}, Message: "m"}
	got := render(t, d, "ab", RenderOptions{Color: true})
	for _, want := range []string{"\x1b[1mq.sql:1:2:\x1b[0m ", "\x1b[1;33mwarning[IDEM023]:\x1b[0m m", "     |  \x1b[32m^\x1b[0m"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
}

// TestRenderIsSafe: input can neither colour nor reorder the terminal.
func TestRenderIsSafe(t *testing.T) {
	d := Diagnostic{Code: QuerySyntax, Severity: Error, Pos: Pos{"q.sql", 1, 1, 1}, Message: "bad \x1b[31m\u202e", Hint: "a\nb\x07"}
	got := render(t, d, "x\x1b[2J\x00\xff\u2066", RenderOptions{})
	if strings.ContainsAny(got, "\x1b\x00\x07\u202e\u2066") {
		t.Errorf("%q", got)
	}
	if !strings.Contains(got, "hint: a\n        b") {
		t.Errorf("the hint's second line is not indented: %q", got)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestRenderReportsTheWriter(t *testing.T) {
	if err := Render(broken{}, []Diagnostic{{Message: "m"}}, nil, RenderOptions{}); err == nil {
		t.Error("no error")
	}
}

func TestNearest(t *testing.T) {
	words := []string{"intent", "http", "empty", "error", "key", "tag"}
	for word, want := range map[string]string{
		"intnet": "intent", "HTTP": "http", "htpp": "http", "emty": "empty", "erorr": "error", "kye": "key", "k": "", "xyz": "", "payments": "",
		"key": "", "tag": "", // right already: no word is its own correction
		strings.Repeat("a", 100): "", "": "",
	} {
		if got := Nearest(word, words); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}

func TestList(t *testing.T) {
	var l List
	if l.Err() != nil || l.HasErrors() {
		t.Error("an empty list has an error")
	}
	l.Warnf(NotYet, Pos{"b", 2, 1, 0}, "w %d", 1)
	if l.Err() != nil {
		t.Error("a warning is an error")
	}
	l.Errorf(NotYet, Pos{"b", 1, 9, 0}, "second").Hint("h %s", "x")
	l.Errorf(NotYet, Pos{"b", 1, 9, 0}, "second").Hint("h %s", "x")
	l.Errorf(NotYet, Pos{"a", 7, 1, 0}, "first")
	err := l.Err()
	if err == nil || err.Error() != "a:7:1: error[IDEM010]: first\nb:1:9: error[IDEM010]: second\nb:2:1: warning[IDEM010]: w 1" {
		t.Errorf("%v", err)
	}
	if hint := l.Sorted()[1].Hint; hint != "h x" {
		t.Errorf("hint %q", hint)
	}
}
