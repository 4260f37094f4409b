package idem

import (
	"bytes"
	"encoding/json"
)

// compose makes the response body from the steps' JSON texts; nothing is
// rendered here that PostgreSQL did not render.
func (r *stepRun) compose(a *Answer) []byte {
	var out bytes.Buffer
	if a.Kind != "" {
		r.write(&out, a)
	}
	return out.Bytes()
}

func (r *stepRun) write(out *bytes.Buffer, a *Answer) {
	switch a.Kind {
	case "object":
		out.WriteByte('{')
		for i := range a.Members {
			if i > 0 {
				out.WriteByte(',')
			}
			writeName(out, a.Members[i].Name)
			r.write(out, &a.Members[i].Value)
		}
		out.WriteByte('}')
	case "step":
		r.writeRows(out, a, func(row stepRow) []byte { return row.row })
	case "column":
		r.writeRows(out, a, func(row stepRow) []byte { return row.columns[a.Column] })
	default:
		out.WriteString("null")
	}
}

// writeRows writes the first row, or a list of all, inside its wrapper.
func (r *stepRun) writeRows(out *bytes.Buffer, a *Answer, text func(stepRow) []byte) {
	res := r.results[a.Step]
	wrapper := a.One
	if res.list {
		wrapper = a.Many
	}
	if wrapper != "" {
		out.WriteByte('{')
		writeName(out, wrapper)
		defer out.WriteByte('}')
	}
	if !res.list {
		if len(res.rows) == 0 {
			out.WriteString("null")
			return
		}
		writeText(out, text(res.rows[0]))
		return
	}
	out.WriteByte('[')
	for i, row := range res.rows {
		if i > 0 {
			out.WriteByte(',')
		}
		writeText(out, text(row))
	}
	out.WriteByte(']')
}

func writeName(out *bytes.Buffer, name string) {
	quoted, _ := json.Marshal(name) // a string can be marshalled
	out.Write(quoted)
	out.WriteByte(':')
}

func writeText(out *bytes.Buffer, text []byte) {
	if text == nil {
		text = []byte("null")
	}
	out.Write(text)
}
