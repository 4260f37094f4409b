package review

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"

	"github.com/idemgen/idemgen/generator/files"
)

// Files are REVIEW.md and REVIEW.json in the folder of the emitted code.
func Files(out string, doc *Document) ([]files.File, error) {
	model, err := doc.encode()
	if err != nil {
		return nil, err
	}
	return []files.File{
		{Path: path.Join(out, MarkdownFile), Content: []byte(doc.Markdown())},
		{Path: path.Join(out, JSONFile), Content: model},
	}, nil
}

// encode is the text of REVIEW.json, a member a line, so that its own diff can
// be read.
func (d *Document) encode() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(d); err != nil {
		return nil, fmt.Errorf("encode %s: %w", JSONFile, err)
	}
	return b.Bytes(), nil
}
