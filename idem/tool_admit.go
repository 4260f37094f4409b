package idem

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// keyArgument is the argument that a tool's key may come as.
const keyArgument = "idempotency_key"

// wholeArgument is the argument that is the whole body over HTTP.
const wholeArgument = "body"

// toolForm is an operation as a tool: its inputs, wherever they stand over HTTP, are
// members of one object.
type toolForm struct {
	definition ToolDefinition
	decoder    *decoder
	keyAt      int // index of the argument with the key, -1 for none
}

// compileTool prepares the arguments of a tool; nil where there is none.
func compileTool(cfg *Config, op *Operation) (*toolForm, error) {
	if op.Tool.Definition == "" {
		return nil, nil
	}
	definition, err := readDefinition(op.Tool.Definition)
	if err != nil {
		return nil, err
	}
	flat := *op
	flat.BodyWhole, flat.Policy.Print = false, nil
	flat.Fields = slices.Clone(op.Fields)
	for i := range flat.Fields {
		f := &flat.Fields[i]
		if f.From == FromBody && op.BodyWhole {
			f.Name = wholeArgument
		}
		if f.From != FromCaller {
			f.From = FromBody
		}
	}
	t := &toolForm{definition: definition, keyAt: -1}
	if op.Tool.KeyArgument {
		t.keyAt = len(flat.Fields)
		flat.Fields = append(flat.Fields, Field{From: FromBody, Name: keyArgument, Kind: KindText, Nullable: true})
	}
	if t.decoder, err = compileFields(&flat, cfg.UnknownFields); err != nil {
		return nil, fmt.Errorf("as a tool: %w", err)
	}
	return t, nil
}

// admitTool reads the arguments of a call, as admit does a request.
func (s *Service) admitTool(op *operation, caller []any, key string, arguments []byte) (*invocation, *Error) {
	if len(caller) != len(s.cfg.Caller) {
		return nil, errInternal(fmt.Errorf("idem: %d caller values, not %d", len(caller), len(s.cfg.Caller)))
	}
	inv, refused := s.invoke(op, caller)
	if refused != nil {
		return nil, refused
	}
	if limit := op.Policy.MaxBody; limit > 0 && int64(len(arguments)) > limit {
		return nil, &Error{Status: http.StatusRequestEntityTooLarge, Code: "body-too-large", Title: "Arguments too large"}
	}
	if text := strings.TrimSpace(string(arguments)); text == "" || text == "null" {
		arguments = []byte("{}") // what a host sends for no arguments
	}
	values, refused := op.tool.decoder.decode(request{body: arguments, caller: op.callerOf(caller)})
	if refused != nil {
		return nil, refused
	}
	inv.values = values[:len(op.Fields)]
	if key, refused = op.toolKey(key, values); refused != nil {
		return nil, refused
	}
	inv.client = key
	if refused := inv.chooseKey(key, s.protocol); refused != nil {
		return nil, refused
	}
	inv.print = op.decoder.fingerprint(inv.values)
	return inv, nil
}

// toolKey is the key of a call: the one given, else the argument; "" where the tool
// takes none.
func (op *operation) toolKey(key string, values []Value) (string, *Error) {
	if op.Key.From != KeyHeader {
		return "", nil
	}
	if at := op.tool.keyAt; key == "" && at >= 0 {
		key = values[at].Text
		if key == "" && values[at].Set && !values[at].Null {
			return "", errToolKey("It is empty.")
		}
	}
	switch {
	case key != "" && !validKey(key):
		return "", errToolKey("It must be 1 to 255 visible ASCII characters, without spaces.")
	case key == "" && op.takesKey():
		return "", errKeyMissing(op.tool.wantsKey())
	}
	return key, nil
}

func errToolKey(detail string) *Error {
	return &Error{Status: http.StatusBadRequest, Code: "key-invalid", Title: "Invalid idempotency key", Detail: detail}
}

// wantsKey says how a call brings its key.
func (t *toolForm) wantsKey() string {
	how := "This tool writes, so a repeated call must be known as one. The host sends session and step in _meta, or idempotencyKey"
	if t.keyAt >= 0 {
		how += "; or give the argument " + keyArgument + ", made of what the call is for, and the same one when you repeat the call"
	}
	return how + "."
}

// asArguments names the fields of an error as the arguments that they are.
func asArguments(e *Error) *Error {
	if len(e.Fields) == 0 {
		return e
	}
	told := *e
	told.Fields = slices.Clone(e.Fields)
	for i := range told.Fields {
		where, name, found := strings.Cut(told.Fields[i].Pointer, ":")
		if found && (where == "path" || where == "query" || where == "header") {
			told.Fields[i].Pointer = "/" + escapePointer(name)
		}
	}
	return &told
}
