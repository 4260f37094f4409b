package schema

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/idem/idemtest"
)

// rulesText writes rules in one line: "a min 1; a in x|y".
func rulesText(rules map[string][]model.Check) string {
	if rules == nil {
		return "-"
	}
	var out []string
	for column, checks := range rules {
		for _, c := range checks {
			value := c.Value
			if c.Op == model.CheckIn {
				value = strings.Join(c.Values, "|")
			}
			out = append(out, fmt.Sprintf("%s %s %s", column, c.Op, value))
		}
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}

func TestCheckRules(t *testing.T) {
	const table = `CREATE TYPE e AS ENUM ('x', 'y');
CREATE TABLE t (i int, n numeric, f real, s text, v varchar(9), c char(3), ci citext, d date, b bytea, j jsonb, a int[], e e, bo bool, i2 int, CHECK (%s));`
	tests := []struct{ check, want string }{
		{"i > 0", "i exclusive_min 0"},
		{"0 < i", "i exclusive_min 0"},
		{"i >= -5 AND i <= 10", "i max 10; i min -5"},
		{"10 >= i", "i max 10"},
		{"n > 0.5", "n exclusive_min 0.5"},
		{"n < .5", "n exclusive_max 0.5"},
		{"n >= '-0.10'::numeric", "n min -0.10"},
		{"n >= (0)::numeric", "n min 0"},
		{"n > 1e3", "-"},
		{"f > 1", "f exclusive_min 1"},
		{"f > 0.1", "-"},
		{"i BETWEEN 1 AND 5", "i max 5; i min 1"},
		{"i NOT BETWEEN 1 AND 5", "-"},
		{"i BETWEEN SYMMETRIC 5 AND 1", "-"},
		{"i IN (1, -2)", "i in 1|-2"},
		{"s IN ('a', 'b')", "s in a|b"},
		{"s NOT IN ('a', 'b')", "s not_equal a; s not_equal b"},
		{"s = ANY (ARRAY['a'::text, 'b'::text])", "s in a|b"},
		{"v::text = ANY ((ARRAY['a'::varchar, 'b'::varchar])::text[])", "v in a|b"},
		{"s <> ALL (ARRAY['a'])", "s not_equal a"},
		{"s = ANY ('{a,b}')", "-"},
		{"s <> ''", "s not_equal "},
		{"s = 'a'", "s in a"},
		{"s = 'a' OR s = 'b' OR s IN ('c')", "s in a|b|c"},
		{"s = 'a' OR v = 'b'", "-"},
		{"s = 'a' OR i > 1", "-"},
		{"i IS NULL OR i > 1", "i exclusive_min 1"},
		{"i2 IS NULL OR i > 1", "-"},
		{"i IS NULL OR i = 1 OR i = 2", "i in 1|2"},
		{"s > 'a'", "-"},
		{"length(s) > 0", "s min_length 1"},
		{"char_length(v) BETWEEN 2 AND 8", "v max_length 8; v min_length 2"},
		{"5 > length(s)", "s max_length 4"},
		{"length(s) = 3", "s max_length 3; s min_length 3"},
		{"length(s) <> 0", "s min_length 1"},
		{"length(s) <> 3", "-"},
		{"length(c) > 1", "-"},
		{"length(b) > 1", "-"},
		{"length(trim(s)) > 0", "-"},
		{"octet_length(s) > 0", "-"},
		{"c = 'EUR'", "-"},
		{"ci = 'a'", "-"},
		{"d > '2020-01-01'", "-"},
		{"e <> 'x'", "e not_equal x"},
		{"e > 'x'", "-"},
		{"bo", "-"},
		{"i > i2", "-"},
		{"i > 0 AND i2 > 0", "i exclusive_min 0; i2 exclusive_min 0"},
		{"i > 0 AND i > i2", "-"},
		{"NOT i > 0", "-"},
		{"i % 2 = 0", "-"},
		{"a[1] > 0", "-"},
		{"s ~ '^[A-Z]{3}$'", "s pattern ^[A-Z]{3}$"},
		{"s ~ '^a.b$'", "s pattern (?s)^a.b$"},
		{"s ~* '^a'", "-"},
		{"s !~ '^a'", "-"},
		{"s ~ '\\w'", "-"},
		{"s LIKE 'a%'", "-"},
		{"i = NULL", "-"},
		{"s::varchar = 'a'", "-"},
		{"i::text = '1'", "-"},
		{"i OPERATOR(pg_catalog.>) 0", "-"},
	}
	for _, tt := range tests {
		t.Run(tt.check, func(t *testing.T) {
			cat := mustBuild(t, fmt.Sprintf(table, tt.check))
			check := mustTable(t, cat, "t").Checks[0]
			if got := rulesText(check.Rules); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			for _, rules := range check.Rules {
				if rules[0].Name != check.Name {
					t.Errorf("rule of %q, check %q", rules[0].Name, check.Name)
				}
			}
		})
	}
}

func TestDomainRules(t *testing.T) {
	cat := mustBuild(t, `CREATE DOMAIN d AS text CHECK (VALUE ~ '^x' AND length(VALUE) <= 5) CHECK (VALUE <> lower(VALUE));`)
	d := cat.Domains[0]
	if got := rulesText(d.Checks[0].Rules); got != " max_length 5;  pattern ^x" {
		t.Errorf("rules %q", got)
	}
	if d.Checks[1].Rules != nil {
		t.Errorf("rules %v", d.Checks[1].Rules)
	}
}

var patterns = []struct {
	pattern string
	safe    bool
}{
	{`^[a-z0-9_-]+$`, true}, {`a.b`, true}, {`^a|b$`, true}, {`(ab)+c?`, true}, {`(?:ab){2,3}`, true}, {`^a{2}$`, true},
	{`a{2,}`, true}, {`\.`, true}, {`[\.\]]`, true}, {`[^a]`, true}, {`^\+[0-9]{1,15}$`, true}, {`a*?b`, true},
	{`^[^@ ]+@[^@ ]+$`, true}, {`\\`, true}, {`[a-]`, true}, {`$`, true}, {``, true},
	{`\d`, false}, {`\w+`, false}, {`[[:alpha:]]`, false}, {`(?i)a`, false}, {`***=a`, false}, {`(a)\1`, false}, {`a{`, false},
	{`a**`, false}, {`*a`, false}, {`é`, false}, {`\ma`, false}, {`(?=a)`, false}, {`[a`, false}, {`[[.a.]]`, false}, {`a{300}`, false},
}

func TestGoPattern(t *testing.T) {
	for _, tt := range patterns {
		if _, ok := goPattern(tt.pattern); ok != tt.safe {
			t.Errorf("%q: safe %v", tt.pattern, ok)
		}
	}
}

// TestGoPatternMatchesLikePostgreSQL compares every pattern that is taken for
// safe with the server, on texts that tell the two dialects apart.
func TestGoPatternMatchesLikePostgreSQL(t *testing.T) {
	pool := idemtest.Pool(t)
	inputs := []string{"", "a", "b", "ab", "aab", "aaa", "abab", "ababab", "abc", "a\nb", "b\n", "\n", "a.b", "A", "é", "a-b_9",
		"x@y", "x@y\n", "+4912345", "]", ".", `\`, "-", "a\r\nb"}
	for _, tt := range patterns {
		translated, ok := goPattern(tt.pattern)
		if !ok {
			continue
		}
		re := regexp.MustCompile(translated)
		for _, in := range inputs {
			var want bool
			if err := pool.QueryRow(context.Background(), "SELECT $1::text ~ $2::text", in, tt.pattern).Scan(&want); err != nil {
				t.Fatalf("%q: %v", tt.pattern, err)
			}
			if got := re.MatchString(in); got != want {
				t.Errorf("%q on %q: Go %v, PostgreSQL %v", tt.pattern, in, got, want)
			}
		}
	}
}
