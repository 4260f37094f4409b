package idem

import (
	"fmt"
	"slices"
	"time"
)

// operation is an Operation made ready to run.
type operation struct {
	*Operation
	stored  string // the operation's name in the key table
	decoder *decoder
	tool    *toolForm // nil where agents can't call it
	// caller holds, per caller field of the operation, its index in Config.Caller.
	caller []int

	session *query // nil without `session:`
	prior   query
	claim   query
	keyed   query
	unkeyed query
	forced  query
	steps   []step

	calls bool      // there is a call among the steps
	makes []ArgFrom // server-made values that the steps bind
	emits bool      // its statements write events
}

// step is a Step with its statements.
type step struct {
	*Step
	query    query
	existing *query // nil where the existing row may not be shown

	run GoFunc        // of a Go step
	in  []*boundField // of a Go or call step: what it takes

	// Of a call step.
	reach CallFunc
	undo  UndoFunc // nil where there is none
	out   []*boundField
	bound bool // a later step binds its results, or an undo needs them
	shown bool // the answer shows its rows
}

func compileOperation(cfg *Config, op *Operation, funcs functions) (*operation, error) {
	texts, err := sections(op.SQL)
	if err != nil {
		return nil, err
	}
	decoder, err := compileFields(op, cfg.UnknownFields || op.Webhook.System != "" || op.Consumer.Topic != "")
	if err != nil {
		return nil, err
	}
	c := &operation{Operation: op, stored: cfg.Service + "." + string(op.Name), decoder: decoder}
	if c.caller, err = callerIndexes(cfg, op); err != nil {
		return nil, err
	}
	if len(op.Steps) == 0 {
		return nil, fmt.Errorf("no steps")
	}
	if c.tool, err = compileTool(cfg, op); err != nil {
		return nil, err
	}
	if len(cfg.Session) > 0 {
		session, err := sectionOf(texts, "session", newQuery)
		if err != nil {
			return nil, err
		}
		c.session = &session
	}
	return c, c.compileStatements(texts, funcs)
}

// functions are those of the steps, by name.
type functions struct {
	run  map[string]GoFunc
	call map[string]CallFunc
	undo map[string]UndoFunc
}

func (op *operation) compileStatements(texts map[string]string, funcs functions) error {
	if err := op.compileSteps(texts, funcs); err != nil {
		return err
	}
	if err := op.compileDurable(); err != nil {
		return err
	}
	need := map[string]*query{}
	switch op.Strategy {
	case Direct:
	case Fused:
		need["keyed"] = &op.keyed
	case Verbatim:
		need["prior"], need["claim"], need["keyed"] = &op.prior, &op.claim, &op.keyed
	case Stepped:
		return nil
	default:
		return fmt.Errorf("unknown strategy %q", op.Strategy)
	}
	if op.Key.From == KeyNone || op.Key.From == KeyHeader && !op.Key.Required {
		need["unkeyed"] = &op.unkeyed
	}
	if op.Policy.Force && op.Strategy != Direct {
		need["forced"] = &op.forced
	}
	for name, into := range need {
		q, err := sectionOf(texts, name, newAnswerQuery)
		if err != nil {
			return err
		}
		*into = q
	}
	op.claim.binary = nil // it returns no answer
	return nil
}

func (op *operation) compileSteps(texts map[string]string, funcs functions) error {
	for i := range op.Steps {
		compiled := step{Step: &op.Steps[i]}
		switch {
		case compiled.Go != nil && op.Strategy != Stepped:
			return fmt.Errorf("step %s: a Go function runs in a transaction of its own: the strategy must be Stepped", compiled.Name)
		case compiled.Go != nil:
			var err error
			if compiled.run, compiled.in, err = compiled.Go.compile(compiled.Args, funcs.run); err != nil {
				return fmt.Errorf("step %s: %w", compiled.Name, err)
			}
		case compiled.Call != nil:
			if err := compiled.compileCall(funcs); err != nil {
				return fmt.Errorf("step %s: %w", compiled.Name, err)
			}
		case op.Strategy == Stepped:
			q, err := sectionOf(texts, compiled.Section, newQuery)
			if err != nil {
				return fmt.Errorf("step %s: %w", compiled.Name, err)
			}
			compiled.query = q
		}
		if intent := compiled.Intent; intent != nil && intent.Existing != "" {
			q, err := sectionOf(texts, intent.Existing, newQuery)
			if err != nil {
				return err
			}
			compiled.existing = &q
		}
		op.steps = append(op.steps, compiled)
		op.emits = op.emits || slices.ContainsFunc(compiled.Args, func(arg Arg) bool { return arg.From == ArgEvent })
	}
	return nil
}

func sectionOf(texts map[string]string, name string, build func(string) query) (query, error) {
	sql, ok := texts[name]
	if !ok {
		return query{}, fmt.Errorf("its SQL has no section %q", name)
	}
	return build(sql), nil
}

// callerIndexes finds the operation's caller fields in what CallerFunc returns.
func callerIndexes(cfg *Config, op *Operation) ([]int, error) {
	var indexes []int
	for _, field := range op.Fields {
		if field.From != FromCaller {
			continue
		}
		at := -1
		for i, known := range cfg.Caller {
			if known.Name == field.Name {
				at = i
			}
		}
		if at < 0 {
			return nil, fmt.Errorf("caller field %q is not one of the service's", field.Name)
		}
		indexes = append(indexes, at)
	}
	return indexes, nil
}

// keepErrors is how long the record of a client error is kept: so long, at
// least, that a late first attempt finds it.
func (op *operation) keepErrors() time.Duration {
	return max(op.Policy.ClientError, 2*op.Policy.Timeout)
}
