package idem

import "strconv"

// binding is where a statement's parameters come from, beside the invocation.
type binding struct {
	inv  *invocation
	elem []Value // the element of an `each`
	// ordinal is the element's number, from 1; 0 where there is no `each`.
	ordinal int
	steps   [][][]byte     // text results of the steps before
	empty   func() *answer // the @empty problem, nil if there is none
}

// bindRoom is how many bytes of short parameters a statement has room for in
// one allocation.
const bindRoom = 192

// bind gives the parameters in text form, nil for NULL.
func (b binding) bind(args []Arg) [][]byte {
	params := make([][]byte, len(args))
	room := make([]byte, 0, bindRoom)
	for i, arg := range args {
		params[i], room = b.valueIn(room, arg)
	}
	return params
}

// valueIn is value, in room where it is a copy anyway and fits.
func (b binding) valueIn(room []byte, arg Arg) (param, left []byte) {
	at := len(room)
	switch arg.From {
	case ArgField:
		v := b.inv.values[arg.Field]
		if !v.Set || v.Null || len(v.Text) > cap(room)-at {
			return b.value(arg), room
		}
		room = append(room, v.Text...)
	case ArgScope:
		room = append(room, b.inv.scope...)
	case ArgKey:
		room = append(room, b.inv.key...)
	case ArgDigest:
		room = appendBytea(room, b.inv.digest)
	case ArgFingerprint:
		room = appendBytea(room, b.inv.print)
	default:
		return b.value(arg), room
	}
	return room[at:len(room):len(room)], room
}

func (b binding) value(arg Arg) []byte {
	inv := b.inv
	switch arg.From {
	case ArgField:
		return paramOf(inv.values[arg.Field])
	case ArgHas:
		return strconv.AppendBool(nil, inv.values[arg.Field].Set)
	case ArgItem:
		return paramOf(b.elem[arg.Item])
	case ArgStep:
		if at := b.steps[arg.Step]; arg.Column < len(at) {
			return at[arg.Column]
		}
		return nil // the step found no row
	case ArgLiteral:
		return []byte(arg.Text)
	case ArgScope:
		return []byte(inv.scope)
	case ArgKey:
		return []byte(inv.key)
	case ArgDigest:
		return byteaText(inv.digest)
	case ArgFingerprint:
		return byteaText(inv.print)
	case ArgEmpty:
		if ans := b.empty(); ans != nil {
			return ans.body
		}
		return nil
	case ArgEmptyHeaders:
		if ans := b.empty(); ans != nil {
			return ans.keptHeaders()
		}
		return nil
	case ArgEvent:
		return []byte(inv.eventKey(arg.Text, b.ordinal))
	case ArgTrace:
		return inv.trace
	case ArgLock:
		return strconv.AppendInt(nil, inv.lock(), 10)
	}
	return []byte(inv.once(arg.From))
}

func paramOf(v Value) []byte {
	if !v.Set || v.Null {
		return nil
	}
	return append([]byte{}, v.Text...) // not nil where empty
}

// sessionStatement is the set_config statement of `session:`.
func (s *Service) sessionStatement(inv *invocation) statement {
	params := make([][]byte, len(s.cfg.Session))
	for i, v := range s.cfg.Session {
		if v.Arg.From == ArgField {
			params[i] = paramOf(inv.caller[v.Arg.Field])
			continue
		}
		params[i] = binding{inv: inv}.value(v.Arg)
	}
	return inv.op.session.with(params...)
}
