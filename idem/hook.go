package idem

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
)

// Webhook says which deliveries an operation receives. The zero value: none.
type Webhook struct {
	System string
	Types  []string // none: all that no other operation of the system takes
}

// hook is the receiver of one system: the route that its operations share.
type hook struct {
	s        *Service
	system   string
	verifier Verifier
	gate     *operation            // stands for deliveries of which no operation is known
	byType   map[string]*operation // what takes a type
	rest     *operation            // what takes all others, nil: they are ignored
}

// hookOf is the receiver that an operation belongs to, nil for those that clients
// call.
func (s *Service) hookOf(name Name) *hook {
	if op := s.operations[name]; op != nil {
		return s.hooks[op.Webhook.System]
	}
	return nil
}

// compileHooks gathers the webhooks by system and gives each its verifier.
func (s *Service) compileHooks(verifiers map[string]Verifier) error {
	s.hooks = map[string]*hook{}
	var errs []error
	for _, described := range s.cfg.Operations {
		op := s.operations[described.Name]
		system := op.Webhook.System
		if system == "" {
			continue
		}
		if s.hooks[system] == nil {
			h, err := s.newHook(op, verifiers[system])
			errs = append(errs, err)
			s.hooks[system] = h
		}
		errs = append(errs, s.hooks[system].add(op))
	}
	for _, system := range slices.Sorted(maps.Keys(verifiers)) {
		if s.hooks[system] == nil {
			errs = append(errs, fmt.Errorf("idem: Options.Webhooks has a verifier of %q, but no operation is a webhook of it", system))
		}
	}
	return errors.Join(errs...)
}

func (s *Service) newHook(op *operation, v Verifier) (*hook, error) {
	system := op.Webhook.System
	gate := &Operation{Name: Name("webhook-" + system), Method: op.Method, Path: op.Path}
	h := &hook{s: s, system: system, verifier: v, byType: map[string]*operation{},
		gate: &operation{Operation: gate, stored: s.cfg.Service + "." + string(gate.Name)}}
	if v == nil {
		return h, fmt.Errorf("idem: Options.Webhooks has no verifier of %q, which %s is a webhook of", system, op.Name)
	}
	if checked, ok := v.(interface{ Check() error }); ok {
		if err := checked.Check(); err != nil {
			return h, fmt.Errorf("idem: Options.Webhooks[%q]: %w", system, err)
		}
	}
	return h, nil
}

func (h *hook) add(op *operation) error {
	h.gate.Policy.MaxBody = max(h.gate.Policy.MaxBody, op.Policy.MaxBody)
	taken := func(kind string, by *operation) error {
		return fmt.Errorf("idem: operations %s and %s both take %s of %s", by.Name, op.Name, kind, h.system)
	}
	if len(op.Webhook.Types) == 0 {
		if h.rest != nil {
			return taken("all deliveries", h.rest)
		}
		h.rest = op
	}
	for _, t := range op.Webhook.Types {
		if other := h.byType[t]; other != nil {
			return taken("type "+t, other)
		}
		h.byType[t] = op
	}
	return nil
}

// ServeHTTP implements http.Handler. Nothing but the verifier looks at a delivery
// before it is known to be authentic.
func (h *hook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != h.gate.Method {
		w.Header().Set("Allow", h.gate.Method)
		h.turnAway(w, r, &Error{Status: http.StatusMethodNotAllowed, Code: "method-not-allowed", Title: "Method not allowed"})
		return
	}
	d, size, refused := h.read(w, r)
	if refused != nil {
		h.turnAway(w, r, refused)
		return
	}
	op := h.byType[d.Type]
	if op == nil {
		op = h.rest
	}
	if op == nil {
		h.s.watch(r.Context(), h.gate).end(nil, &answer{status: http.StatusNoContent, event: EventIgnored})
		w.WriteHeader(http.StatusNoContent)
		return
	}
	h.run(w, r, &handler{s: h.s, op: op}, d, size)
}

// run is ServeHTTP of one operation, for a delivery that is authentic, of so many bytes.
func (h *hook) run(w http.ResponseWriter, r *http.Request, to *handler, d Delivery, size int) {
	seen := h.s.watch(r.Context(), to.op)
	r = seen.request(r)
	defer to.recover(w, r, seen)
	if int64(size) > to.op.Policy.MaxBody { // within what another operation of the route takes
		to.refuse(w, r, seen, errBodyTooLarge(), "")
		return
	}
	inv, refused := h.admit(r, to.op, d)
	if refused != nil {
		to.refuse(w, r, seen, refused, "")
		return
	}
	inv.seen, inv.stays = seen, true
	ans, err := h.s.serve(r.Context(), inv)
	if err != nil {
		ans = h.s.unfinished(err, newInstance(), "", false)
	}
	if ans.event == EventProcessing { // not acknowledged, whatever the profile tells clients
		shown := *ans
		shown.event = ""
		to.respond(w, r, &shown, "", false)
		return
	}
	to.respond(w, r, ans, "", true)
}

// read reads the raw body, of size bytes, and asks the verifier. A panic of it is a fault.
func (h *hook) read(w http.ResponseWriter, r *http.Request) (d Delivery, size int, refused *Error) {
	defer func() {
		if p := recover(); p != nil {
			refused = errInternal(panicError(p))
		}
	}()
	body, refused := readRaw(w, r, h.gate.Policy.MaxBody)
	if refused != nil {
		return d, 0, refused
	}
	d, err := h.verifier.Verify(r, body)
	if err != nil {
		return d, 0, h.s.turnAway(r.Context(), h.gate, err)
	}
	if d.JSON == nil {
		d.JSON = body
	}
	if d.ID == "" {
		return d, 0, &Error{Status: http.StatusBadRequest, Code: "delivery-id-missing", Title: "The delivery has no id",
			Detail: "Without one it could not be told from a repetition."}
	}
	return d, len(body), nil
}

// turnAway refuses what no operation has seen. Why a delivery is not authentic goes
// to the log: whoever sends it learns nothing.
func (h *hook) turnAway(w http.ResponseWriter, r *http.Request, e *Error) {
	if cause := errors.Unwrap(e); cause != nil && e.Status < 500 {
		h.s.logger.WarnContext(r.Context(), "webhook delivery refused", "system", h.system, "status", e.Status, "error", cause)
	}
	gate := &handler{s: h.s, op: h.gate}
	gate.refuse(w, r, h.s.watch(r.Context(), h.gate), e, "")
}

// admit makes an invocation of a delivery.
func (h *hook) admit(r *http.Request, op *operation, d Delivery) (*invocation, *Error) {
	scope := d.Scope
	if scope == "" {
		scope = h.system
	}
	inv, caller, refused := h.s.admit(op, scope)
	if refused != nil {
		return nil, refused
	}
	inv.values, refused = op.decoder.decode(request{
		path: r.PathValue, rawQuery: r.URL.RawQuery, header: r.Header, body: d.JSON, caller: op.callerOf(caller),
	})
	if refused != nil {
		return nil, refused
	}
	key := "webhook-" + h.system + "-" + d.ID
	if !validKey(key) {
		key = inv.hashed(nil, "webhook", h.system, d.ID)
	}
	if refused := inv.chooseKey(key, h.s.protocol); refused != nil {
		return nil, refused
	}
	inv.print = op.decoder.fingerprint(inv.values)
	if op.emits || op.runsGo() {
		inv.trace = traceOf(r.Context(), r.Header).json()
	}
	return inv, nil
}

// admit begins an invocation for a scope, of which nothing else is known: the
// other values of the caller are null.
func (s *Service) admit(op *operation, scope string) (*invocation, []any, *Error) {
	caller, values := make([]any, len(s.cfg.Caller)), make([]Value, len(s.cfg.Caller))
	for i := range values {
		values[i] = nullValue()
	}
	if at := s.cfg.Scope; at >= 0 {
		v, err := s.callers.fields[at].encode(scope)
		if err != nil || v.Null {
			return nil, nil, unauthenticated(fmt.Errorf("idem: the verifier's scope is no value of the caller's %s", s.cfg.Caller[at].Name))
		}
		caller[at], values[at], scope = scope, v, v.Text
	}
	if scope == "" || len(scope) > maxScopeLength {
		return nil, nil, unauthenticated(errors.New("idem: the scope must have 1 to 255 bytes"))
	}
	pool, err := s.pools.choose(scope)
	if err != nil {
		return nil, nil, errInternal(err)
	}
	inv := newInvocation(op, pool, scope)
	inv.caller, inv.delivered = values, true
	return inv, caller, nil
}
