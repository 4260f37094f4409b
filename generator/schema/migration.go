package schema

import (
	"regexp"
	"sort"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/generator/diag"
)

// gooseMark is goose's annotation; it reads the word in any case.
var gooseMark = regexp.MustCompile(`(?i)^\s*--\s*\+goose\s+(\S+)`)

// downMarks begin the part that undoes a migration in the other formats that
// sqlc understands: sql-migrate, dbmate, tern.
var downMarks = []string{"-- +migrate Down", "-- migrate:down", "---- create above / drop below ----"}

// upPart is the text of a migration with everything blanked that isn't
// applied, so that offsets stay those of the file. A file without marks is
// applied as a whole.
func upPart(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	up := !hasGooseUp(text)
	for line := range strings.Lines(text) {
		if mark := gooseMark.FindStringSubmatch(line); mark != nil {
			switch strings.ToUpper(mark[1]) {
			case "UP":
				up = true
			case "DOWN":
				up = false
			}
		}
		if isDownMark(line) {
			up = false
		}
		if up {
			b.WriteString(line)
		} else {
			b.WriteString(blank(line))
		}
	}
	return b.String()
}

// IsGoose reports whether a file is a goose migration: whether it has an Up part.
func IsGoose(text string) bool { return hasGooseUp(text) }

func hasGooseUp(text string) bool {
	if !strings.Contains(text, "goose") {
		return false
	}
	for line := range strings.Lines(text) {
		if mark := gooseMark.FindStringSubmatch(line); mark != nil && strings.EqualFold(mark[1], "Up") {
			return true
		}
	}
	return false
}

func isDownMark(line string) bool {
	for _, m := range downMarks {
		if strings.HasPrefix(line, m) {
			return true
		}
	}
	return false
}

// blank replaces all but line ends by spaces.
func blank(line string) string {
	body := strings.TrimRight(line, "\r\n")
	return strings.Repeat(" ", len(body)) + line[len(body):]
}

var (
	intentMark  = regexp.MustCompile(`(?m)^-- idemgen: intent (\S+)[ \t\r]*$`)
	sweepMark   = regexp.MustCompile(`(?m)^-- idemgen: sweep (\d+) (\S.*?)[ \t\r]*$`)
	runtimeMark = regexp.MustCompile(`(?m)^-- idemgen: runtime (\d+)[ \t\r]*$`)
)

// readMarkers notes what idemgen's own migrations were made for.
func (c *Catalog) readMarkers(f File) {
	if !strings.Contains(f.Text, "-- idemgen:") {
		return
	}
	for _, m := range intentMark.FindAllStringSubmatch(f.Text, -1) {
		c.Markers[m[1]] = f.Path
	}
	for _, m := range sweepMark.FindAllStringSubmatch(f.Text, -1) {
		if n, err := strconv.Atoi(m[1]); err == nil {
			c.Sweep = SweepMark{Version: n, Schedule: m[2], File: f.Path}
		}
	}
	for _, m := range runtimeMark.FindAllStringSubmatch(f.Text, -1) {
		if n, err := strconv.Atoi(m[1]); err == nil {
			c.Runtime = max(c.Runtime, n)
		}
	}
}

// lines finds the place of an offset in a file.
type lines struct {
	file   string
	starts []int
}

func newLines(f File) lines {
	starts := []int{0}
	for i := range len(f.Text) {
		if f.Text[i] == '\n' {
			starts = append(starts, i+1)
		}
	}
	return lines{f.Path, starts}
}

func (l lines) pos(offset, width int) diag.Pos {
	line := sort.SearchInts(l.starts, offset+1)
	return diag.Pos{File: l.file, Line: line, Col: offset - l.starts[line-1] + 1, Width: width}
}
