package config

import (
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/spec"
)

var update = flag.Bool("update", false, "rewrite golden files")

// TestRefused reads every file of testdata; its golden holds what was said, with carets.
func TestRefused(t *testing.T) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files (%v)", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var diags diag.List
			Parse(filepath.Base(file), text, "example.com/payments", &diags)
			if !diags.HasErrors() {
				t.Fatal("accepted")
			}
			var out strings.Builder
			source := func(string) (string, bool) { return string(text), true }
			if err := diag.Render(&out, diags.Sorted(), source, diag.RenderOptions{}); err != nil {
				t.Fatal(err)
			}
			compare(t, strings.TrimSuffix(file, ".yaml")+".golden", out.String())
		})
	}
}

func compare(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; run go test ./generator/config -update and look at the diff\ngot:\n%s", path, got)
	}
}

func parseGood(t *testing.T, text, module string) *Config {
	t.Helper()
	var diags diag.List
	cfg := Parse("idemgen.yaml", []byte(text), module, &diags)
	if ds := diags.Sorted(); len(ds) > 0 {
		t.Fatalf("diagnostics: %v", ds)
	}
	return cfg
}

const minimal = "version: 1\nmigrations: db/migrations\nout: internal/api\nscope: caller.tenant_id\n"

func TestDefaults(t *testing.T) {
	cfg := parseGood(t, minimal, "example.com/team/payments/v2")
	for name, ok := range map[string]bool{
		"service":        cfg.Service == "payments",
		"sqlc":           len(cfg.Sqlc) == 1 && cfg.Sqlc[0] == "sqlc.yaml" && cfg.SqlcCommand == nil,
		"package":        cfg.Package == "api",
		"profile":        cfg.Profile == "ietf",
		"scope":          cfg.Scope.Kind == spec.SourceCaller && cfg.Scope.Path[0] == "tenant_id",
		"scope position": cfg.Scope.Pos == diag.Pos{File: "idemgen.yaml", Line: 4, Col: 8, Width: 16},
		"json":           cfg.JSON == JSON{Case: "snake", Bigint: "number", Many: "items"},
		"unknown_fields": cfg.UnknownFields == "reject",
		"defaults":       reflect.DeepEqual(cfg.Defaults, spec.Policy{}),
		"POST":           cfg.DefaultKeys["POST"].From == "header" && cfg.DefaultKeys["POST"].Required == nil,
		"PUT":            !*cfg.DefaultKeys["PUT"].Required,
		"GET":            cfg.DefaultKeys["GET"].From == "none",
		"position":       cfg.Pos["out"] == diag.Pos{File: "idemgen.yaml", Line: 3, Col: 1, Width: 3},
	} {
		if !ok {
			t.Errorf("%s: %+v", name, cfg)
		}
	}
}

// TestProfiles: semantics.md section 3 has the table. `defaults:` holds what is
// written there, wherever the profile stands.
func TestProfiles(t *testing.T) {
	for profile, want := range map[string]spec.Policy{
		"ietf":    {ClientError: ptr(2 * time.Hour), ServerError: ptr(time.Duration(0)), Inflight: &spec.Inflight{Wait: 2 * time.Second}, Fingerprint: &spec.Fingerprint{Mode: "all"}},
		"stripe":  {ClientError: ptr(24 * time.Hour), ServerError: ptr(24 * time.Hour), Inflight: &spec.Inflight{}, Fingerprint: &spec.Fingerprint{Mode: "all"}},
		"gateway": {ClientError: ptr(2 * time.Hour), ServerError: ptr(5 * time.Minute), Inflight: &spec.Inflight{}, Fingerprint: &spec.Fingerprint{Mode: "none"}},
	} {
		want.Success, want.Timeout, want.MaxBody = ptr(24*time.Hour), ptr(30*time.Second), ptr(int64(1<<20))
		want.Isolation, want.Record, want.ForceRetry = ptr("read committed"), ptr("full"), ptr(false)
		if got := ProfilePolicy(profile); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v", profile, got)
		}
		cfg := parseGood(t, minimal+"defaults: {server_error: 1h}\nprofile: "+profile+"\n", "example.com/payments")
		d := cfg.Defaults
		if cfg.Profile != profile || *d.ServerError != time.Hour {
			t.Errorf("%s below defaults: %+v", profile, d)
		}
		d.ServerError, d.Pos, d.At = nil, diag.Pos{}, nil
		if !reflect.DeepEqual(d, spec.Policy{}) {
			t.Errorf("%s stands in defaults: %+v", profile, d)
		}
	}
}

func TestEveryKey(t *testing.T) {
	cfg := parseGood(t, `# yaml-language-server: $schema=idemgen.schema.json
version: 1
service: stock-keeper
sqlc: {files: [a/sqlc.yaml, b/sqlc.yaml], command: [go, tool, sqlc]}
migrations: ../shared/migrations/
specs: ["endpoints/*.yaml", more.yaml]
package: handlers
out: ./internal/api
profile: ietf
scope: none
bind: &b {tenant_id: caller.tenant_id, at: now, amount: body.amount min=1}
session: {app.tenant_id: caller.tenant_id, app.role: "'web'", app.scope: scope}
json: {case: camel, bigint: string, one: data, many: rows}
unknown_fields: ignore
sweep: {pg_cron: "0 4  * * 1-5"}
defaults:
  key: {POST: header optional, PUT: none, DELETE: body.request_id prefix="x-"}
  success: 30d
  client_error: 1h30m
  server_error: 5m
  inflight: reject
  fingerprint: none
  isolation: repeatable read
  timeout: 500ms
  max_body: 64KiB
  record: none
  force_retry: off
`, "")
	d := cfg.Defaults
	for name, ok := range map[string]bool{
		"service":    cfg.Service == "stock-keeper",
		"sqlc":       strings.Join(cfg.Sqlc, " ") == "a/sqlc.yaml b/sqlc.yaml" && strings.Join(cfg.SqlcCommand, " ") == "go tool sqlc",
		"migrations": cfg.Migrations == "../shared/migrations",
		"specs":      strings.Join(cfg.Specs, " ") == "endpoints/*.yaml more.yaml",
		"package":    cfg.Package == "handlers" && cfg.Out == "internal/api",
		"scope":      cfg.Scope.Kind == spec.SourceNone,
		"bind":       len(cfg.Bind) == 3 && cfg.Bind[1].Source.Kind == spec.SourceNow && cfg.Bind[2].Min.Value == "1",
		"session":    len(cfg.Session) == 3 && cfg.Session[0].Name.Value == "app.tenant_id" && cfg.Session[1].Source.Text == "web",
		"json":       cfg.JSON == JSON{Case: "camel", Bigint: "string", One: "data", Many: "rows"},
		"unknown":    cfg.UnknownFields == "ignore",
		"sweep":      cfg.Sweep.Cron == "0 4 * * 1-5",
		"POST":       !*cfg.DefaultKeys["POST"].Required,
		"PUT":        cfg.DefaultKeys["PUT"].From == "none",
		"PATCH":      cfg.DefaultKeys["PATCH"].From == "header",
		"DELETE":     cfg.DefaultKeys["DELETE"].From == "source" && cfg.DefaultKeys["DELETE"].Prefix == "x-",
		"kept":       *d.Success == 720*time.Hour && *d.ClientError == 90*time.Minute && *d.ServerError == 5*time.Minute,
		"rest": d.Inflight.Wait == 0 && d.Fingerprint.Mode == "none" && *d.Isolation == "repeatable read" &&
			*d.Timeout == 500*time.Millisecond && *d.MaxBody == 64<<10 && *d.Record == "none" && !*d.ForceRetry,
	} {
		if !ok {
			t.Errorf("%s: %+v", name, cfg)
		}
	}
}

func TestDefaultService(t *testing.T) {
	for module, want := range map[string]string{
		"example.com/payments": "payments", "example.com/payments/v3": "payments", "payments": "payments", "v2": "v2",
		"gopkg.in/stock.v2": "stock", "example.com/My_Shop": "my_shop", "example.com/a.b": "a-b", "example.com/9lives": "lives", "": "", "example.com/9": "",
	} {
		if got := defaultService(module); got != want {
			t.Errorf("%q: %q, want %q", module, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/*.yaml"} {
		files, _ := filepath.Glob(pattern)
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text)
		}
	}
	f.Add([]byte(minimal))
	f.Fuzz(func(t *testing.T, text []byte) {
		var diags diag.List
		Parse("idemgen.yaml", text, "m", &diags)
		lines := strings.Split(string(text), "\n")
		for _, d := range diags.Sorted() {
			if d.Pos.Line < 1 || d.Pos.Line > len(lines) || d.Pos.Col < 1 || d.Pos.Col-1+d.Pos.Width > len(lines[d.Pos.Line-1]) && d.Pos.Width > 1 {
				t.Fatalf("outside the file: %+v", d)
			}
		}
	})
}

// TestOneErrorPerMistake: the hint is exact, and nothing else is reported.
func TestOneErrorPerMistake(t *testing.T) {
	const good = "version: 1\nmigrations: m\nout: o/api\nscope: caller.tenant_id\n"
	for _, c := range []struct{ from, to, message, hint string }{
		{"scope: caller.tenant_id", "scope: tenant_id", "`scope:` can't be \"tenant_id\"", "did you mean caller.tenant_id? a scope is caller.NAME or none"},
		{"scope: caller.tenant_id", "scope: None", "`scope:` can't be", "did you mean none?"},
		{"scope: caller.tenant_id", "scope: caller", "`scope:` can't be", "write caller.tenant_id"},
		{"scope: caller.tenant_id", "scope: caller.CHANGE_ME", "`scope:` can't be \"caller.CHANGE_ME\"", "the column that says whose a row is"},
		{"scope:", "scpoe:", "unknown key \"scpoe\"", "did you mean scope?"},
		{"version:", "vesion:", "unknown key \"vesion\"", "did you mean version?"},
		{"migrations:", "migration:", "unknown key \"migration\"", "did you mean migrations?"},
		{"out:", "ot:", "unknown key \"ot\"", "did you mean out?"},
		{"version: 1", "version: 1\nbind: {tenant_id: tenant_id}", "unknown source tenant_id", "did you mean caller.tenant_id or body.tenant_id?"},
	} {
		var diags diag.List
		Parse("idemgen.yaml", []byte(strings.Replace(good, c.from, c.to, 1)), "example.com/payments", &diags)
		ds := diags.Sorted()
		if len(ds) != 1 || !strings.Contains(ds[0].Message, c.message) || !strings.Contains(ds[0].Hint, c.hint) {
			t.Errorf("%s: got %v, want one of %s (%s)", c.to, ds, c.message, c.hint)
		}
	}
}

// A schedule goes into a comment and into SQL: nothing that ends either passes.
func TestCronSchedules(t *testing.T) {
	for schedule, ok := range map[string]bool{
		`"*/5 * * * *"`: true, `"0 0,12 1-7 jan,feb sun"`: true, `" 0\t4 $ * *  "`: true, `30 seconds`: true,
		`"* * * *"`: false, `"* * * * * *"`: false, `every minute`: false, `""`: false, `60 seconds`: false,
		`"* * * * '"`: false, `"* * * *\n*"`: false, `"* * * * *;"`: false, `"0 0 ? * *"`: false,
	} {
		var diags diag.List
		cfg := Parse("idemgen.yaml", []byte(minimal+"sweep: {pg_cron: "+schedule+"}\n"), "example.com/payments", &diags)
		if got := !diags.HasErrors(); got != ok || ok == (cfg.Sweep.Cron == "") {
			t.Errorf("%s: %v, %q", schedule, diags.Sorted(), cfg.Sweep.Cron)
		}
	}
}
