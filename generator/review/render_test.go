package review

import (
	"encoding/xml"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
)

// hostileOperation has a hostile text wherever a text may stand.
func hostileOperation(text string) *Operation {
	op := &Operation{
		Name: "Op", Stored: "s.Op", Summary: text, Method: "POST", Path: "/" + text, Key: Key{From: "header", Prefix: text}, Strategy: "fused", Reason: text,
		RoundTrips: 1, Policy: Policy{Wait: "0s"}, Fingerprint: Fingerprint{Mode: "all", Members: []string{text}}, Headers: []string{text},
		Inputs: []Input{{Name: text, Type: text, Default: text, Checks: []string{text}}}, Response: []Member{{text, text}},
		Answers: []Answer{{400, text, text, text, "1h"}}, Intents: []Intent{{text, []string{text}, text, text, "conflict"}},
		Steps: []Step{{Name: text, Does: text}}, Locks: []Lock{{lockRows, text, text, text, text, text}}, Writes: []string{text}, SQLFile: "sql/op.sql",
		Sections: []Section{{text, text, text}}, SQL: text,
	}
	op.diagram = diagram(op)
	return op
}

func hostileReport(text string) *Report {
	now := &Document{Service: text, Scope: text, Operations: []*Operation{hostileOperation(text)}, Tables: []Table{{text, []string{text}, []string{text}}}}
	was := &Document{Service: "s", Operations: []*Operation{hostileOperation("plain")}}
	r := Compare(was, now)
	r.Base, r.Commit, r.Moved = text, text, text
	return r
}

var (
	codeSpans  = regexp.MustCompile("(?s)(`+).*?[^`]?`+")
	ownMarkup  = regexp.MustCompile(`</?details>|</?summary>|<a href="sql/op\.sql">|</a>|<!-- [A-Za-z ]+(?:\. DO NOT EDIT\.)? -->`)
	fencedPart = regexp.MustCompile("(?ms)^(````*)[a-z]*\n.*?^````*\n")
)

// TestMarkdownHoldsHostileTexts: outside code no tag but ours is left, no person
// is told, and every table row has as many cells as its head.
func TestMarkdownHoldsHostileTexts(t *testing.T) {
	for _, text := range hostile {
		r := hostileReport(text)
		for name, got := range map[string]string{"REVIEW.md": r.Now.Markdown(), "comment": r.Markdown()} {
			prose := fencedPart.ReplaceAllString(got, "")
			cells := 0
			for _, line := range strings.Split(prose, "\n") {
				n := strings.Count(line, "|") - strings.Count(line, `\|`)
				switch {
				case !strings.HasPrefix(line, "|"):
					cells = 0
				case cells == 0:
					cells = n
				case n != cells:
					t.Errorf("%q, %s: %d cells, the head has %d:\n%s", text, name, n, cells, line)
				}
			}
			plain := ownMarkup.ReplaceAllString(codeSpans.ReplaceAllString(prose, ""), "")
			if strings.ContainsAny(plain, "<>") || strings.Contains(plain, "@e") {
				t.Errorf("%q, %s: not quoted:\n%s", text, name, plain)
			}
			if open, closed := strings.Count(plain, "<details>"), strings.Count(plain, "</details>"); open != closed {
				t.Errorf("%q, %s: %d open, %d closed", text, name, open, closed)
			}
		}
	}
}

// TestPageIsWellFormedAndNeedsNoNetwork reads the page as XML, which HTML of this
// kind is but for its head.
func TestPageIsWellFormedAndNeedsNoNetwork(t *testing.T) {
	for _, text := range hostile {
		page, err := hostileReport(text).HTML()
		if err != nil {
			t.Fatal(err)
		}
		_, body, _ := strings.Cut(string(page), "<body>")
		body, _, _ = strings.Cut(body, "</body>")
		checkBody(t, text, body)
		for _, outside := range []string{"http://", "https://", "src=", "@import", "url(", "<script"} {
			if strings.Contains(string(page), outside) && !strings.Contains(text, outside) {
				t.Errorf("%q: the page has %s", text, outside)
			}
		}
	}
}

// checkBody wants closed elements, links that lead somewhere, and names for what
// has none of its own.
func checkBody(t *testing.T, text, body string) {
	t.Helper()
	ids, links := map[string]bool{}, []string{}
	dec := xml.NewDecoder(strings.NewReader("<body>" + body + "</body>"))
	dec.Entity = xml.HTMLEntity
	for {
		token, err := dec.Token()
		if err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		el, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		attrs := map[string]string{}
		for _, a := range el.Attr {
			attrs[a.Name.Local] = a.Value
		}
		if id := attrs["id"]; id != "" && ids[id] {
			t.Errorf("%q: id %s twice", text, id)
		} else if id != "" {
			ids[id] = true
		}
		switch {
		case el.Name.Local == "script":
			t.Errorf("%q: a script", text)
		case el.Name.Local == "svg" && (attrs["role"] != "img" || attrs["aria-label"] == ""):
			t.Errorf("%q: a picture without a name", text)
		case el.Name.Local == "th" && attrs["scope"] == "":
			t.Errorf("%q: a head of no row or column", text)
		case attrs["href"] != "":
			links = append(links, attrs["href"])
		}
	}
	for _, to := range links {
		if !ids[strings.TrimPrefix(to, "#")] {
			t.Errorf("%q: %s leads nowhere", text, to)
		}
	}
}

// many is a service of n operations like the example's.
func many(t testing.TB, n int) *Document {
	t.Helper()
	doc := example(t)
	like := doc.find("CreatePayment")
	doc.Operations = nil
	for i := range n {
		op := *like
		op.Name = fmt.Sprintf("Op%d", i)
		op.Stored = "payments." + op.Name
		op.Path = fmt.Sprintf("/v1/op%d", i)
		op.Sections = []Section{{"keyed", "", strings.Repeat("SELECT 1; -- a statement of usual length\n", 100)}}
		op.SQL = op.Sections[0].SQL
		op.diagram = diagram(&op)
		doc.Operations = append(doc.Operations, &op)
	}
	return doc
}

// TestManyOperationsStayUsable: GitHub shows no file above 512 KB, and takes no
// comment above 65,536 characters.
func TestManyOperationsStayUsable(t *testing.T) {
	few, hundreds := many(t, 20).Markdown(), many(t, 100).Markdown()
	if !strings.Contains(few, "```sql\n") {
		t.Error("the SQL of 20 operations is left out")
	}
	if len(hundreds) > 512_000 || strings.Contains(hundreds, "```sql\n") || !strings.Contains(hundreds, "The SQL is in [sql/create_payment.sql](sql/create_payment.sql)") {
		t.Errorf("%d bytes", len(hundreds))
	}
	if rows := strings.Count(hundreds, "| [Op"); rows != 100 {
		t.Errorf("the index has %d rows", rows)
	}
	for n, want := range map[int]string{3: "```sql", 15: "The SQL is left out", 100: "too many for a comment", 900: "and 800 more"} {
		text := Compare(nil, many(t, n)).Markdown()
		if len([]rune(text)) > commentLimit || !strings.Contains(text, want) {
			t.Errorf("%d operations: %d characters, without %q", n, len([]rune(text)), want)
		}
	}
}

func TestDiffsAreMarkedByLine(t *testing.T) {
	got := string(highlightDiff("diff a b\n--- a\n+++ b\n@@ -1,2 +1,2 @@\n--- 200: <b>\n+-- 202: done\n same\n"))
	want := "<span class=\"c\">diff a b</span>\n<span class=\"c\">--- a</span>\n<span class=\"c\">+++ b</span>\n<span class=\"c\">@@ -1,2 +1,2 @@</span>\n" +
		"<del>--- 200: &lt;b&gt;</del>\n<ins>+-- 202: done</ins>\n same\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
