package sqltext

import "strings"

// QuoteIdent writes a name so that PostgreSQL reads back exactly that name. It
// leaves plain lower-case names alone, as PostgreSQL's quote_ident does.
func QuoteIdent(name string) string {
	if isPlainIdent(name) && !keywords[name] {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

func isPlainIdent(name string) bool {
	for i := range len(name) {
		c := name[i]
		switch {
		case c >= 'a' && c <= 'z', c == '_':
		case i > 0 && (c >= '0' && c <= '9'):
		default:
			return false
		}
	}
	return name != ""
}

// QuoteLiteral writes a string constant that means the same whatever
// standard_conforming_strings and backslash_quote say: quotes are doubled, and
// a backslash forces the E form, where it is always doubled. PostgreSQL's text
// can't hold the NUL character; it becomes U+FFFD.
func QuoteLiteral(s string) string {
	s = strings.ReplaceAll(s, "\x00", "\uFFFD")
	quoted := strings.ReplaceAll(s, "'", "''")
	if !strings.Contains(s, `\`) {
		return "'" + quoted + "'"
	}
	return "E'" + strings.ReplaceAll(quoted, `\`, `\\`) + "'"
}
