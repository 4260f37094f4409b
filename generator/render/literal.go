package render

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// member is one member of a Go composite literal, as text. An empty value
// leaves the member out: the zero value needs no words.
type member struct{ name, value string }

// object writes a composite literal. Its type is "" inside a list, where Go
// elides it.
func object(typ string, members ...member) string {
	var parts []member
	for _, m := range members {
		if m.value != "" {
			parts = append(parts, m)
		}
	}
	one := typ + inline(parts)
	if fits(one) {
		return one
	}
	return typ + block(pad(parts), nil)
}

func inline(parts []member) string {
	pairs := make([]string, len(parts))
	for i, m := range parts {
		pairs[i] = m.name + ": " + m.value
	}
	return "{" + strings.Join(pairs, ", ") + "}"
}

// list writes a slice literal, "" for an empty one.
func list(elem string, items []string) string {
	if len(items) == 0 {
		return ""
	}
	one := "[]" + elem + "{" + strings.Join(items, ", ") + "}"
	if fits(one) {
		return one
	}
	return "[]" + elem + block(items, nil)
}

// lines writes a slice literal with one commented element a line; elements
// don't wrap.
func lines(elem string, items, comments []string) string {
	if len(items) == 0 {
		return ""
	}
	return "[]" + elem + block(items, comments)
}

// fits keeps short literals on one line.
func fits(literal string) bool {
	const width = 100
	return len(literal) <= width && !strings.Contains(literal, "\n")
}

// text writes a string literal, "" for the empty string. Backslashes are
// easier to review in a raw one.
func text(s string) string {
	switch {
	case s == "":
		return ""
	case strings.Contains(s, `\`) && strconv.CanBackquote(s) && !strings.Contains(s, "\t"):
		return "`" + s + "`"
	}
	return strconv.Quote(s)
}

func texts(items []string) []string {
	out := make([]string, len(items))
	for i, s := range items {
		out[i] = strconv.Quote(s)
	}
	return out
}

func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func boolean(b bool) string {
	if !b {
		return ""
	}
	return "true"
}

// duration writes a time.Duration in its largest whole unit.
func duration(d time.Duration) string {
	units := []struct {
		unit time.Duration
		name string
	}{
		{time.Hour, "time.Hour"}, {time.Minute, "time.Minute"}, {time.Second, "time.Second"},
		{time.Millisecond, "time.Millisecond"}, {time.Microsecond, "time.Microsecond"},
	}
	if d == 0 {
		return ""
	}
	for _, u := range units {
		switch {
		case d == u.unit:
			return u.name
		case d%u.unit == 0:
			return fmt.Sprintf("%d * %s", d/u.unit, u.name)
		}
	}
	return strconv.FormatInt(int64(d), 10)
}

// size writes a number of bytes, in MiB or KiB where it is whole.
func size(n int64) string {
	switch {
	case n == 0:
		return ""
	case n%(1<<20) == 0:
		return fmt.Sprintf("%d << 20", n>>20)
	case n%(1<<10) == 0:
		return fmt.Sprintf("%d << 10", n>>10)
	}
	return strconv.FormatInt(n, 10)
}

// oneLine makes a text fit for a line comment.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
