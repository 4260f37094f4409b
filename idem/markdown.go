package idem

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
)

const markdownType = "text/markdown; charset=utf-8"

// represent gives a problem the form that the request asks for. Only the
// runtime's own JSON has two: it is what records keep, and what Markdown is made
// of, so that all replays in one form are the same bytes.
func represent(w http.ResponseWriter, r *http.Request, ans *answer) *answer {
	if !ans.isProblemJSON() {
		return ans
	}
	w.Header().Add("Vary", "Accept")
	var p problem
	if !prefersMarkdown(r.Header.Values("Accept")) || json.Unmarshal(ans.body, &p) != nil {
		return ans
	}
	shown := *ans
	shown.body, shown.headers = p.markdown(), maps.Clone(ans.headers)
	shown.headers["Content-Type"] = markdownType
	return &shown
}

// markdown is a problem for people and agents that read text: the members as
// front matter, each value a quoted YAML scalar, and what rows and requests
// contributed inside fenced blocks, where it can't be taken for text of ours.
func (p *problem) markdown() []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "---\nstatus: %d\ncode: %s\ntitle: %s\nretryable: %t\ntype: %s\ninstance: %s\n",
		p.Status, strconv.Quote(p.Code), strconv.Quote(p.Title), p.Retryable, strconv.Quote(p.Type), strconv.Quote(p.Instance))
	if p.Key != "" {
		fmt.Fprintf(&out, "idempotency_key: %s\n", strconv.Quote(p.Key))
	}
	out.WriteString("---\n")
	if p.Detail != "" {
		writeFenced(&out, "Detail", "text", p.Detail)
	}
	if len(p.Errors) > 0 {
		lines := make([]string, len(p.Errors))
		for i, field := range p.Errors {
			lines[i] = oneLine("- " + field.Pointer + " (" + field.Code + "): " + field.Detail)
		}
		writeFenced(&out, "Errors", "text", strings.Join(lines, "\n"))
	}
	if len(p.Existing) > 0 {
		writeFenced(&out, "Existing", "json", string(p.Existing))
	}
	return out.Bytes()
}

// writeFenced writes a section whose text can't end its block: the fence is
// longer than every run of backticks inside (CommonMark 0.31 section 4.5).
func writeFenced(out *bytes.Buffer, title, language, text string) {
	longest, run := 2, 0
	for i := range len(text) {
		if run++; text[i] != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	fmt.Fprintf(out, "\n## %s\n\n%s%s\n%s\n%s\n", title, fence, language, strings.TrimRight(text, "\n"), fence)
}

// oneLine replaces what would begin another line.
func oneLine(text string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f || c == 0x85 || c == 0x2028 || c == 0x2029 {
			return ' '
		}
		return c
	}, text)
}

// prefersMarkdown reads Accept (RFC 9110 section 12.5.1). Markdown is for who
// names text/markdown with no less weight than JSON: of equal weights JSON wins
// where it is named as well, Markdown where a wildcard only covers JSON.
func prefersMarkdown(lines []string) bool {
	weights := map[string]float64{} // by media range
	for _, line := range lines {
		for part := range strings.SplitSeq(line, ",") {
			kind, q := acceptPart(part)
			if kind == "application/json" {
				kind = problemType
			}
			weights[kind] = max(weights[kind], q)
		}
	}
	markdown := weights["text/markdown"]
	if json, named := weights[problemType]; named {
		return markdown > json
	}
	covered, isCovered := weights["application/*"]
	if !isCovered {
		covered = weights["*/*"]
	}
	return markdown > 0 && markdown >= covered
}

// acceptPart is a media range and its weight: 1 if none is given, 0 for one that
// can't be read.
func acceptPart(part string) (kind string, q float64) {
	kind, parameters, _ := strings.Cut(part, ";")
	kind = strings.ToLower(strings.Trim(kind, " \t"))
	for parameter := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(strings.Trim(parameter, " \t"), "=")
		if !strings.EqualFold(name, "q") {
			continue
		}
		q, err := strconv.ParseFloat(value, 64)
		if err != nil || !(q >= 0 && q <= 1) {
			return kind, 0
		}
		return kind, q
	}
	return kind, 1
}
