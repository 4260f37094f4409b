package generator

import (
	"bytes"
	"errors"
	"io/fs"
	"unicode/utf8"

	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/yamltree"
)

// readSQL reads a file that sqlc or goose reads too. What neither can read is
// reported, and the text is nil; one with a byte order mark is without it. sqlc
// is not run then.
func (r *runner) readSQL(p string) ([]byte, error) {
	text, err := r.tree.Read(p)
	switch {
	case r.tree.IsFolder(p):
		r.unreadable(diag.Pos{File: p}, "%s is a folder, and its name that of a file of SQL", p).Hint("rename it")
		return nil, nil
	case errors.Is(err, fs.ErrNotExist):
		r.unreadable(diag.Pos{File: p}, "%s is a symbolic link that leads nowhere", p).Hint("remove the link, or put the file there")
		return nil, nil
	case err != nil:
		return nil, err
	}
	text, marked := bytes.CutPrefix(text, []byte(yamltree.ByteOrderMark))
	if marked {
		r.unreadable(diag.Pos{File: p, Line: 1, Col: 1}, "the file begins with a byte order mark, which sqlc and goose take for SQL").
			Hint("save it as UTF-8 without BOM in your editor; or: sed -i '1s/^\\xEF\\xBB\\xBF//' %s", p)
	}
	if at := badByte(text); at >= 0 {
		pos := diag.Pos{File: p, Line: 1 + bytes.Count(text[:at], []byte("\n")), Col: at - bytes.LastIndexByte(text[:at], '\n')}
		r.unreadable(pos, "the file is not UTF-8 text").
			Hint("save it as UTF-8 in your editor, or convert it: iconv -f LATIN1 -t UTF-8 (or -f UTF-16)")
		return nil, nil
	}
	return text, nil
}

func (r *runner) unreadable(pos diag.Pos, format string, v ...any) *diag.Entry {
	r.broken = true
	return r.diags.Errorf(diag.QuerySyntax, pos, format, v...)
}

// badByte is the place of the first byte that no text in UTF-8 has for
// PostgreSQL, -1 if there is none.
func badByte(text []byte) int {
	for i := 0; i < len(text); {
		c, size := utf8.DecodeRune(text[i:])
		if c == 0 || c == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}
