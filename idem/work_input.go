package idem

import (
	"encoding/json"
	"fmt"
)

// storedInput is idem.work.input: all that a request brought, in canonical texts,
// for who continues without it.
type storedInput struct {
	Fields map[string]storedValue `json:"fields"`           // by part and name
	Caller map[string]storedValue `json:"caller,omitempty"` // of Config.Caller, for `session:`
	Made   map[string]string      `json:"made,omitempty"`   // values made by the server
	Client string                 `json:"client,omitempty"` // the key as it was sent
	Trace  json.RawMessage        `json:"trace,omitempty"`  // what its events keep of the request's trace
}

// storedValue is a value that was set: a text, null, or records.
type storedValue struct {
	Text    *string                  `json:"text,omitempty"`
	Records []map[string]storedValue `json:"records,omitempty"`
	Record  bool                     `json:"record,omitempty"` // Records is one, or a list that may be empty
}

// storedText is what the row keeps of an invocation. What is made by the server
// is made now: all attempts have the same.
func (inv *invocation) storedText(callers *decoder) []byte {
	made := map[string]string{}
	for _, from := range inv.op.makes {
		made[madeNames[from]] = inv.once(from)
	}
	return marshal(storedInput{
		Fields: storeValues(inv.op.decoder.fields, inv.values), Caller: storeValues(callers.fields, inv.caller),
		Made: made, Client: inv.client, Trace: inv.trace,
	})
}

var madeNames = map[ArgFrom]string{ArgNow: "now", ArgUUID4: "uuid4", ArgUUID7: "uuid7"}

func storeValues(fields []*boundField, values []Value) map[string]storedValue {
	stored := map[string]storedValue{}
	for i, f := range fields {
		if values[i].Set {
			stored[f.storedName()] = storeValue(f, values[i])
		}
	}
	return stored
}

func (f *boundField) storedName() string { return fromNames[f.From] + "." + f.Name }

func storeValue(f *boundField, v Value) storedValue {
	switch {
	case v.Null:
		return storedValue{}
	case f.Kind != KindRecord:
		return storedValue{Text: &v.Text}
	}
	stored := storedValue{Record: true}
	for _, elem := range v.Elems {
		stored.Records = append(stored.Records, storeValues(f.elem, elem))
	}
	return stored
}

// restore gives an invocation the inputs that a row has kept. An error says why
// they do not fit the operation as it is now, and has no values.
func (inv *invocation) restore(text []byte, callers *decoder) error {
	var stored storedInput
	if err := json.Unmarshal(text, &stored); err != nil {
		return fmt.Errorf("its input can't be read")
	}
	values, err := restoreValues(inv.op.decoder.fields, stored.Fields)
	if err != nil {
		return err
	}
	caller, err := restoreValues(callers.fields, stored.Caller)
	if err != nil {
		return err
	}
	inv.values, inv.caller, inv.client, inv.trace = values, caller, stored.Client, stored.Trace
	inv.made = map[ArgFrom]string{}
	for from, name := range madeNames {
		if made, ok := stored.Made[name]; ok {
			inv.made[from] = made
		}
	}
	return nil
}

func restoreValues(fields []*boundField, stored map[string]storedValue) ([]Value, error) {
	values := make([]Value, len(fields))
	for i, f := range fields {
		v, ok := stored[f.storedName()]
		switch {
		case !ok && f.filled == nil && f.Required && !f.Nullable:
			return nil, fmt.Errorf("it has no %s", f.storedName())
		case !ok:
			continue
		}
		var err error
		if values[i], err = f.restored(v); err != nil {
			return nil, fmt.Errorf("%s %w", f.storedName(), err)
		}
	}
	fillDefaults(fields, values)
	return values, nil
}

// restored is the value of a field as it is declared now.
func (f *boundField) restored(stored storedValue) (Value, error) {
	if f.Kind == KindRecord && stored.Record {
		elems := [][]Value{}
		for _, one := range stored.Records {
			values, err := restoreValues(f.elem, one)
			if err != nil {
				return Value{}, err
			}
			elems = append(elems, values)
		}
		if f.List {
			return listValue(f, elems), nil
		}
		if len(elems) == 1 {
			return recordValue(f, elems[0]), nil
		}
	}
	v := stored.plain()
	switch {
	case stored.Record, f.Kind == KindRecord && !v.Null:
		return v, fmt.Errorf("has another form now")
	case v.Null && !f.Nullable:
		return v, fmt.Errorf("must not be null now")
	case v.Null:
		return v, nil
	}
	if _, fault := f.fromDefault(v.Text); fault != nil {
		return v, fmt.Errorf("has another type now")
	}
	return v, nil
}

func (v storedValue) plain() Value {
	if v.Text == nil {
		return nullValue()
	}
	return textValue(*v.Text)
}
