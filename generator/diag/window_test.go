package diag

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestLongLinesAreCutAroundThePlace(t *testing.T) {
	line := strings.Repeat("a", 100) + "HERE" + strings.Repeat("b", 100)
	var out strings.Builder
	d := Diagnostic{Code: "IDEM012", Severity: Error, Pos: Pos{File: "q.sql", Line: 1, Col: 101, Width: 4}, Message: "m"}
	if err := Render(&out, []Diagnostic{d}, func(string) (string, bool) { return line, true }, RenderOptions{Width: 60}); err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(out.String(), "\n")
	if n := columnsOf(rows[1]); n > 60 || n < 50 {
		t.Errorf("%d columns of 60: %s", n, rows[1])
	}
	begin := strings.Index(rows[2], "^")
	if !strings.HasPrefix(string([]rune(rows[1])[begin:]), "HERE") || !strings.HasSuffix(rows[2], " ^^^^") {
		t.Errorf("the caret is elsewhere:\n%s\n%s", rows[1], rows[2])
	}
}

// TestWindowKeepsThePlace: whatever the line, what is cut fits, and the place is
// the same text as before.
func TestWindowKeepsThePlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		runes := rapid.SliceOfN(rapid.SampledFrom([]rune("ab é日\t…🙂")), 1, 120).Draw(t, "line")
		line := string(runes)
		n := rapid.IntRange(0, len(runes)-1).Draw(t, "at")
		col, width := len(string(runes[:n]))+1, len(string(runes[n]))
		limit := rapid.IntRange(leastWindow, 80).Draw(t, "limit")
		out, at := window(line, col, width, limit)
		if columnsOf(line) > limit && columnsOf(out) > limit {
			t.Errorf("%d columns of %d", columnsOf(out), limit)
		}
		if runes[n] != '\t' && !strings.HasPrefix(out[at-1:], string(runes[n])) {
			t.Errorf("the place was %q, in %q it is at %d", string(runes[n]), out, at)
		}
	})
}
