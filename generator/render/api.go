package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/plan"
)

// apiView is what templates/emit/api.go.tmpl prints.
type apiView struct {
	Package        string
	Caller         structView
	NeedsCaller    bool
	OperationNames string
	Config         string
	Defaults       bool
	Funcs          bool   // some operations have Go steps
	Inside         bool   // some operations have Go steps inside the transaction
	Calls, Undos   bool   // some operations call other systems, and take it back
	Async          bool   // some operations are done in the background
	Durable        bool   // some operations have calls or are async
	Webhooks       string // the names of operations that are webhooks
	Consumers      bool   // some operations take messages
	Tools          bool   // some operations are tools
	OnlyTools      bool   // some operations have no route: they are tools alone
}

// packageNames are the identifiers of api.go.
var packageNames = []string{
	"Caller", "Options", "Service", "New", "routeShape", "serviceConfig", "defaultText", "callerOf",
}

// methodNames are the methods of Service, beside which operations get theirs.
var methodNames = []string{"Mount", "MountWebhooks", "Handler", "Run", "Ready", "StatusHandler", "ExposedHeaders", "Tools", "inner", "Consume", "Topics"}

func newAPIView(svc *model.Service, ops []*plan.Operation, im *imports) (apiView, error) {
	im.add("context", "crypto/cipher", "fmt", "log/slog", "net/http",
		"github.com/go-chi/chi/v5", "github.com/jackc/pgx/v5/pgxpool", idemPath)
	config, err := serviceConfig(svc, ops)
	if err != nil {
		return apiView{}, err
	}
	view := apiView{
		Package:     svc.Package,
		Caller:      callerView(svc, im),
		NeedsCaller: len(svc.Caller) > 0 || svc.ScopeSource.Kind != model.SourceNone,
		Config:      config,
		Defaults:    slices.ContainsFunc(ops, hasDefaults),
	}
	view.uses(ops)
	var names, hooks []string
	for _, op := range ops {
		switch {
		case isWebhook(op):
			hooks = append(hooks, exportedName(op.Model))
		case op.Model.Consumer != nil:
			view.Consumers = true
		case op.Model.OnlyTool(): // it has no route
		default:
			names = append(names, exportedName(op.Model))
		}
	}
	view.Webhooks = strings.Join(hooks, ", ")
	if view.OperationNames = list("idem.Name", names); view.OperationNames == "" {
		view.OperationNames = "nil"
	}
	if view.NeedsCaller {
		im.add("errors")
	}
	return view, nil
}

// uses finds what the operations need of the service.
func (v *apiView) uses(ops []*plan.Operation) {
	for _, op := range ops {
		v.Tools = v.Tools || op.Model.Tool != nil
		v.OnlyTools = v.OnlyTools || op.Model.OnlyTool()
		v.Async = v.Async || op.Model.Async
		v.Durable = v.Durable || op.Model.Durable()
		for _, s := range op.Model.Steps {
			v.Funcs = v.Funcs || s.Go != nil
			v.Inside = v.Inside || s.Go != nil && !s.IsCall()
			v.Calls = v.Calls || s.IsCall()
			v.Undos = v.Undos || s.IsCall() && s.Go.Call.Undo != ""
		}
	}
}

func isWebhook(op *plan.Operation) bool { return op.Model.Webhook != nil }

func isDelivered(op *plan.Operation) bool { return op.Model.Delivered() }

func callerView(svc *model.Service, im *imports) structView {
	root := &node{}
	for _, c := range svc.Caller {
		root.children = append(root.children, &node{name: c.Name, goName: c.GoName, goType: im.use(goType(c.Type, false))})
	}
	root.resolve("c", "c")
	view := root.structs("Caller", "")[0]
	for i, c := range svc.Caller {
		if c.Name == scopeField(svc) {
			view.Fields[i].Comment = "the scope: whose keys they are"
		}
	}
	return view
}

var profiles = map[string]string{
	"ietf":    "idem.ProfileIETF",
	"stripe":  "idem.ProfileStripe",
	"gateway": "idem.ProfileGateway",
}

// serviceConfig writes the idem.Config literal.
func serviceConfig(svc *model.Service, ops []*plan.Operation) (string, error) {
	scope, err := scopeIndex(svc)
	if err != nil {
		return "", err
	}
	session, err := sessionVars(svc)
	if err != nil {
		return "", err
	}
	operations := make([]string, len(ops))
	for i, op := range ops {
		operations[i] = descriptorFunc(op.Model) + "()"
	}
	profile, known := profiles[svc.Profile]
	if !known {
		return "", fmt.Errorf("unknown profile %q", svc.Profile)
	}
	return object("idem.Config",
		member{"Service", text(svc.Name)},
		member{"Profile", profile},
		member{"Operations", list("*idem.Operation", operations)},
		member{"Caller", callerFields(svc)},
		member{"Scope", scope},
		member{"Session", session},
		member{"UnknownFields", boolean(svc.UnknownFields)},
	), nil
}

func scopeIndex(svc *model.Service) (string, error) {
	if svc.ScopeSource.Kind == model.SourceNone {
		return "-1", nil
	}
	i := slices.IndexFunc(svc.Caller, func(c model.CallerField) bool { return c.Name == scopeField(svc) })
	if i < 0 {
		return "", fmt.Errorf("the scope caller.%s is no field of the caller", scopeField(svc))
	}
	return fmt.Sprint(i), nil
}

// sessionVars writes `session:`. Its fields are indices into Config.Caller.
func sessionVars(svc *model.Service) (string, error) {
	caller := &model.Operation{Name: "session"}
	for _, c := range svc.Caller {
		caller.Inputs = append(caller.Inputs, &model.Input{From: model.FromCaller, Name: c.Name, Type: c.Type})
	}
	w := argWriter{op: caller}
	items := make([]string, len(svc.Session))
	for i, v := range svc.Session {
		t := model.Type{}
		if v.Source.Input != nil {
			t = v.Source.Input.Type
		}
		arg, err := w.source(v.Source, t)
		if err != nil {
			return "", err
		}
		items[i] = object("", member{"Name", text(v.Name)}, member{"Arg", "idem.Arg" + arg})
	}
	return list("idem.SessionVar", items), nil
}

func hasDefaults(op *plan.Operation) bool {
	return slices.ContainsFunc(op.Model.Inputs, func(in *model.Input) bool { return in.Default != nil })
}
