package idem

import "encoding/hex"

// minAnonymousKey: with one scope for all, a key must not be guessed.
const minAnonymousKey = 22

// chooseKey gives an invocation its key, from what the client sent (client, in
// decoded form, "" if nothing) and the operation's inputs.
func (inv *invocation) chooseKey(client string, p *protocol) *Error {
	if refused := inv.findKey(client, p); refused != nil {
		return refused
	}
	if inv.key == "" && inv.op.durable() {
		inv.protect(newUUID4()) // nobody can repeat it, but it can be continued
	}
	return nil
}

func (inv *invocation) findKey(client string, p *protocol) *Error {
	key := &inv.op.Key
	switch key.From {
	case KeyHeader:
		if client == "" && key.Required {
			return errKeyMissing("This operation needs the header " + p.keyHeader + ".")
		}
		if client != "" && inv.scope == anonymous && len(client) < minAnonymousKey {
			return p.errKeyInvalid("Without a caller, it must have at least 22 characters.")
		}
		if client != "" && len(key.Prefix) > 0 {
			client = inv.hashed(key.Prefix, client)
		}
		inv.protect(client)
	case KeyIntent:
		intent := inv.intent()
		if intent == nil {
			return nil
		}
		inv.protect(inv.hashed(nil, inv.texts(intent.Key)...))
	case KeySource:
		return inv.keyFromSource(key)
	case KeyMessage:
		if client == "" {
			return errMessageID()
		}
		if !validKey(client) {
			client = inv.hashed(nil, "message", client)
		}
		inv.protect(client)
	case KeyDelivery:
		if client == "" {
			return errKeyMissing("A webhook's key is made of its delivery's id.")
		}
		inv.protect(client)
	}
	return nil
}

func (inv *invocation) keyFromSource(key *Key) *Error {
	value := binding{inv: inv}.value(key.Arg)
	if len(value) == 0 {
		return errKeyMissing("The input that the key is made of is absent.")
	}
	text := string(value)
	if len(key.Prefix) > 0 || !validKey(text) {
		text = inv.hashed(key.Prefix, text)
	}
	inv.protect(text)
	return nil
}

// intent is the business intent that the key is derived from.
func (inv *invocation) intent() *Intent {
	for i := range inv.op.Steps {
		if intent := inv.op.Steps[i].Intent; intent != nil && len(intent.Key) > 0 {
			return intent
		}
	}
	return nil
}

// texts are inputs as parts of a hash. NULL and the empty text differ.
func (inv *invocation) texts(args []Arg) []string {
	parts := make([]string, 0, len(args))
	for _, param := range (binding{inv: inv}).bind(args) {
		if param == nil {
			parts = append(parts, "")
			continue
		}
		parts = append(parts, "="+string(param))
	}
	return parts
}

// hashed is a key made of several parts. Part by part, so that "a" + "b/c" and
// "a/b" + "c" differ.
func (inv *invocation) hashed(prefix []Part, parts ...string) string {
	all := make([]string, 0, len(prefix)+len(parts))
	for _, part := range prefix {
		if part.Name == "" {
			all = append(all, part.Text)
			continue
		}
		all = append(all, inv.input(FromPath, part.Name))
	}
	return hex.EncodeToString(hashParts(append(all, parts...)...))
}

// input is the canonical text of an input, "" if absent.
func (inv *invocation) input(from From, name string) string {
	for i, field := range inv.op.Fields {
		if field.From == from && field.Name == name {
			return inv.values[i].Text
		}
	}
	return ""
}
