// Package docs_test holds the documentation to the code: examples parse, words
// and keys are complete, codes exist, links lead somewhere.
package docs_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/generator/config"
	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/spec"
)

// page is a Markdown file.
type page struct {
	path, text string
	prose      string // without fenced blocks
	blocks     []block
}

// block is a fenced code block: its info string, its text and where it begins.
type block struct {
	info, text string
	line       int
}

var fence = regexp.MustCompile("^( *)```(.*)$")

func readPage(t *testing.T, path string) *page {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p := &page{path: path, text: string(text)}
	var prose, code strings.Builder
	var open *block
	indent := ""
	for i, line := range strings.Split(p.text, "\n") {
		m := fence.FindStringSubmatch(line)
		switch {
		case m != nil && open == nil:
			open, indent = &block{info: strings.TrimSpace(m[2]), line: i + 2}, m[1]
			code.Reset()
		case m != nil:
			open.text = code.String()
			p.blocks = append(p.blocks, *open)
			open = nil
		case open != nil:
			code.WriteString(strings.TrimPrefix(line, indent) + "\n")
		default:
			prose.WriteString(line + "\n")
		}
	}
	if open != nil {
		t.Errorf("%s:%d: the block is never closed", path, open.line)
	}
	p.prose = prose.String()
	return p
}

// pages are README.md and everything in this folder.
func pages(t *testing.T) []*page {
	t.Helper()
	paths, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	var out []*page
	for _, path := range append(paths, filepath.Join("..", "README.md")) {
		out = append(out, readPage(t, path))
	}
	if len(out) < 7 {
		t.Fatalf("only %d pages", len(out))
	}
	return out
}

func report(t *testing.T, p *page, b block, diags *diag.List) {
	t.Helper()
	for _, d := range diags.Sorted() {
		t.Errorf("%s:%d: %s: %s", p.path, b.line+d.Pos.Line-1, d.Code, d.Message)
	}
}

func TestExamplesParse(t *testing.T) {
	parsed := map[string]int{}
	for _, p := range pages(t) {
		for _, b := range p.blocks {
			diags := &diag.List{}
			switch {
			case b.info == "sql" && strings.Contains(b.text, "-- name:"):
				parsed["sql"] += len(spec.ParseQueryFile("block.sql", b.text, diags))
			case b.info == "yaml" && strings.HasPrefix(b.text, "version:"):
				config.Parse("idemgen.yaml", []byte(b.text), "example.com/payments", diags)
				parsed["config"]++
			case b.info == "yaml" && strings.HasPrefix(b.text, "endpoints:"):
				parsed["specs"] += len(spec.ParseEndpoints("spec.yaml", []byte(b.text), diags))
			}
			report(t, p, b, diags)
		}
	}
	if parsed["sql"] < 8 || parsed["config"] < 1 || parsed["specs"] < 2 {
		t.Errorf("found only %v", parsed)
	}
}

// TestQuotedFilesAreQuotedRight holds blocks with a file's name to that file.
func TestQuotedFilesAreQuotedRight(t *testing.T) {
	const emitted = "../example-service/internal/api/sql"
	quoted := 0
	for _, p := range pages(t) {
		for _, b := range p.blocks {
			name, ok := strings.CutPrefix(b.info, "sql ")
			if !ok {
				continue
			}
			text, err := os.ReadFile(filepath.Join(emitted, name))
			if err != nil {
				t.Errorf("%s:%d: %v", p.path, b.line, err)
			} else if !strings.Contains(string(text), b.text) {
				t.Errorf("%s:%d: this is not in %s:\n%s", p.path, b.line, name, b.text)
			}
			quoted++
		}
	}
	if quoted < 10 {
		t.Errorf("only %d quotations", quoted)
	}
}

// TestGoBlocksAreTested holds the long Go blocks to the example that runs.
func TestGoBlocksAreTested(t *testing.T) {
	const example = "../example-service/"
	for page, tried := range map[string]map[string][]string{
		"do.md":     {"go": {"../idem/example_do_test.go"}},
		"client.md": {"go": {example + "pay_test.go"}},
		"going-beyond-sql.md": {
			"go":   {example + "internal/refunds/refunds.go", example + "internal/gateway/client.go"},
			"yaml": {example + "endpoints/refunds.yaml", example + "endpoints/rides.yaml"},
			"sql":  {example + "db/queries/payouts.sql"},
		},
	} {
		for info, files := range tried {
			var text string
			for _, file := range files {
				one, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				text += string(one)
			}
			found := 0
			for _, b := range readPage(t, page).blocks {
				if b.info != info || strings.Count(b.text, "\n") < 6 {
					continue
				}
				found++
				if !strings.Contains(text, b.text) {
					t.Errorf("%s:%d: the block is not in %s", page, b.line, strings.Join(files, ", "))
				}
			}
			if found == 0 {
				t.Errorf("%s has no example of %s", page, info)
			}
		}
	}
}

func TestCodesExist(t *testing.T) {
	known := diag.Codes()
	mention := regexp.MustCompile(`IDEM\d{3}`)
	for _, p := range pages(t) {
		for _, code := range mention.FindAllString(p.text, -1) {
			if !slices.Contains(known, diag.Code(code)) {
				t.Errorf("%s: there is no %s", p.path, code)
			}
		}
	}
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	inCode  = regexp.MustCompile("`[^`]*`")
	noSlug  = regexp.MustCompile(`[^\pL\pN _-]`)
)

// anchors are the names that GitHub gives the headings of a page.
func anchors(p *page) []string {
	var out []string
	for _, m := range heading.FindAllStringSubmatch(p.prose, -1) {
		slug := noSlug.ReplaceAllString(strings.ToLower(strings.TrimSpace(m[1])), "")
		out = append(out, strings.ReplaceAll(slug, " ", "-"))
	}
	return out
}

func TestLinksLeadSomewhere(t *testing.T) {
	for _, p := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(inCode.ReplaceAllString(p.prose, ""), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			target, anchor, _ := strings.Cut(m[1], "#")
			to := p
			if target != "" {
				path := filepath.Join(filepath.Dir(p.path), target)
				if _, err := os.Stat(path); err != nil {
					t.Errorf("%s: %s: %v", p.path, m[1], err)
					continue
				}
				if anchor != "" {
					to = readPage(t, path)
				}
			}
			if anchor != "" && !slices.Contains(anchors(to), anchor) {
				t.Errorf("%s: %s: there is no such heading", p.path, m[1])
			}
		}
	}
}

// schema is as much of a JSON Schema as is needed here.
type schema struct {
	Properties map[string]schema `json:"properties"`
	Defs       map[string]schema `json:"$defs"`
}

func readSchema(t *testing.T, text []byte) schema {
	t.Helper()
	var s schema
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// section is the text of a page below a heading, up to the next of its level.
func section(t *testing.T, p *page, title string) string {
	t.Helper()
	_, rest, ok := strings.Cut(p.text, "\n## "+title+"\n")
	if !ok {
		t.Fatalf("%s has no section %s", p.path, title)
	}
	rest, _, _ = strings.Cut(rest, "\n## ")
	return rest
}

// TestEveryWordIsDocumented asks the parser which of the specs' keys are words
// of annotations; that all words are such keys is tested beside it.
func TestEveryWordIsDocumented(t *testing.T) {
	language := readPage(t, "language.md")
	words := section(t, language, "Statement words") + section(t, language, "Operation words")
	reserved, _, _ := strings.Cut(language.text, "\n- [")
	defs := readSchema(t, spec.JSONSchema()).Defs
	specs := section(t, language, "Endpoint specs")
	found := 0
	for _, place := range []string{"endpoint", "step"} {
		for key := range defs[place].Properties {
			where, spelled := specs, "`"+key+"`"
			switch parseWord(key) {
			case diag.NotYet:
				where, spelled = reserved, "`@"+key+"`"
				found++
			case diag.UnknownWord: // a key of specs only
				if strings.Contains(reserved, "`"+key+":`") || refusedInSpecs(key) {
					continue
				}
			default:
				found++
				if !strings.Contains(words, "`@"+key+" ") && !strings.Contains(words, "`@"+key+"`") {
					t.Errorf("language.md has no row for @%s", key)
				}
			}
			if !strings.Contains(where, spelled) {
				t.Errorf("language.md does not mention %s of a spec's %s", spelled, place)
			}
		}
	}
	if found < 15 {
		t.Errorf("only %d words", found)
	}
}

// parseWord is the worst that the parser says about a word without arguments.
func parseWord(word string) diag.Code {
	diags := &diag.List{}
	spec.ParseQueryFile("q.sql", "-- name: Q :one\n-- @tag x\n-- @"+word+"\nSELECT 1;\n", diags)
	for _, code := range []diag.Code{diag.NotYet, diag.UnknownWord} {
		if slices.ContainsFunc(diags.Sorted(), func(d diag.Diagnostic) bool { return d.Code == code }) {
			return code
		}
	}
	return ""
}

// refusedInSpecs reports keys that belong to a kind of step which is reserved.
func refusedInSpecs(key string) bool {
	diags := &diag.List{}
	spec.ParseEndpoints("s.yaml", []byte("endpoints:\n  E:\n    http: GET /e\n    steps:\n      - query: Q\n        "+key+": x\n"), diags)
	return slices.ContainsFunc(diags.Sorted(), func(d diag.Diagnostic) bool {
		return d.Code == diag.SpecForm && strings.Contains(d.Message, "step of Go")
	})
}

func TestEveryConfigKeyIsDocumented(t *testing.T) {
	language := readPage(t, "language.md")
	table, policies := section(t, language, "idemgen.yaml"), section(t, language, "Policies")
	reserved, _, _ := strings.Cut(language.text, "\n- [")
	s := readSchema(t, config.JSONSchema())
	row := func(text, key string) bool { return strings.Contains(text, "\n| `"+key+"` |") }
	for key := range s.Properties {
		if key != "json" && key != "sweep" && key != "openapi" && !row(table, key) && !strings.Contains(reserved, "`"+key+":`") {
			t.Errorf("language.md has no row for the key %s", key)
		}
	}
	for _, parent := range []string{"json", "sqlc", "sweep", "openapi"} {
		for key := range s.Defs[parent].Properties {
			if !row(table, parent+"."+key) {
				t.Errorf("language.md has no row for %s.%s", parent, key)
			}
		}
	}
	for key := range s.Defs["defaults"].Properties {
		if !row(policies, key) && !row(table, "defaults."+key) {
			t.Errorf("language.md has no row for the policy %s", key)
		}
	}
}

// TestDefaultsAreRight compares the last column of the tables with what an
// empty configuration gives.
func TestDefaultsAreRight(t *testing.T) {
	diags := &diag.List{}
	cfg := config.Parse("idemgen.yaml", []byte("version: 1\nmigrations: m\nout: o/api\nscope: none\n"), "example.com/payments", diags)
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	language := readPage(t, "language.md")
	keys, policies := section(t, language, "idemgen.yaml"), section(t, language, "Policies")
	short := func(d time.Duration) string {
		s := strings.TrimSuffix(d.String(), "0s")
		if s = strings.TrimSuffix(s, "0m"); s == "" {
			return "0s"
		}
		return s
	}
	d := config.ProfilePolicy(cfg.Profile)
	for _, c := range []struct{ table, key, want string }{
		{keys, "sqlc", "[" + strings.Join(cfg.Sqlc, ", ") + "]"},
		{keys, "profile", cfg.Profile},
		{keys, "json.case", cfg.JSON.Case},
		{keys, "json.bigint", cfg.JSON.Bigint},
		{keys, "json.one", `"` + cfg.JSON.One + `"`},
		{keys, "json.many", cfg.JSON.Many},
		{keys, "unknown_fields", cfg.UnknownFields},
		{policies, "success", short(*d.Success)},
		{policies, "client_error", short(*d.ClientError)},
		{policies, "server_error", short(*d.ServerError)},
		{policies, "inflight", "wait:" + d.Inflight.Wait.String()},
		{policies, "fingerprint", d.Fingerprint.Mode},
		{policies, "isolation", strings.ReplaceAll(*d.Isolation, " ", "_")},
		{policies, "timeout", d.Timeout.String()},
		{policies, "max_body", map[int64]string{1 << 20: "1MiB"}[*d.MaxBody]},
		{policies, "record", *d.Record},
		{policies, "force_retry", map[bool]string{false: "off", true: "on"}[*d.ForceRetry]},
	} {
		m := regexp.MustCompile("(?m)^\\| `" + regexp.QuoteMeta(c.key) + "` \\|.*\\| `([^|]*)` \\|$").FindStringSubmatch(c.table)
		if m == nil {
			t.Errorf("language.md: the row of %s has no default", c.key)
		} else if m[1] != c.want {
			t.Errorf("language.md: the default of %s is %q, not %q", c.key, c.want, m[1])
		}
	}
}
