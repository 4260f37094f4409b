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

// bind gives the parameters in text form, nil for NULL.
func (b binding) bind(args []Arg) [][]byte {
	params := make([][]byte, len(args))
	for i, arg := range args {
		params[i] = b.value(arg)
	}
	return params
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
