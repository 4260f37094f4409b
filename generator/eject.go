package generator

import (
	"fmt"
	"path"
	"slices"

	"github.com/idemgen/idemgen/generator/config"
	"github.com/idemgen/idemgen/generator/diag"
	"github.com/idemgen/idemgen/generator/files"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/spec"
)

// eject adds the operations of Options.Eject to the configuration that was read.
func (r *runner) eject(text string) error {
	r.cfgText, r.cfgNew = text, text
	for _, name := range r.opts.Eject {
		if r.cfg.Ejects(name) {
			continue
		}
		added, ok := config.AddEject(r.cfg.File, r.cfgNew, r.tree.Module.Path, name)
		if !ok {
			return fmt.Errorf("%s can't be added to `eject:` of %s: write it there, and run `idemgen generate`", name, r.cfg.File)
		}
		r.cfgNew = added
		r.cfg.Eject = append(r.cfg.Eject, spec.Name{Value: name, Pos: diag.Pos{File: r.cfg.File}})
	}
	return nil
}

// ejected marks the operations whose files are the user's own, and refuses names
// of none.
func (r *runner) ejected(svc *model.Service) {
	for _, name := range r.cfg.Eject {
		i := slices.IndexFunc(svc.Operations, func(op *model.Operation) bool { return op.Name == name.Value })
		if i >= 0 {
			svc.Operations[i].Ejected = true
			continue
		}
		names := make([]string, len(svc.Operations))
		for i, op := range svc.Operations {
			names[i] = op.Name
		}
		entry := r.diags.Errorf(diag.ConfigValue, name.Pos, "there is no operation %s to eject", name.Value)
		if near := diag.Nearest(name.Value, names); near != "" {
			entry.Hint("did you mean %s?", near)
		} else {
			entry.Hint("remove it from `eject:`: its files stay as they are")
		}
	}
}

// release leaves the files of ejected operations to the user.
func (r *runner) release() {
	own := map[string]bool{}
	for _, op := range r.operations {
		if op.Model.Ejected {
			own[path.Join(r.cfg.Out, op.Model.FileBase+".go")] = true
			own[path.Join(r.cfg.Out, "sql", op.Model.FileBase+".sql")] = true
			own[path.Join(r.cfg.Out, "tools", op.Model.FileBase+".json")] = true
		}
	}
	for i, f := range r.emitted {
		if own[f.Path] {
			r.emitted[i] = files.File{Path: f.Path, Own: true}
		}
	}
}

// ejectChange writes the configuration, ahead of all that follows from it.
func (r *runner) ejectChange() {
	if r.cfgNew == r.cfgText || r.diags.HasErrors() {
		return
	}
	change := files.Change{Path: r.cfg.File, Action: files.Write, Old: []byte(r.cfgText), New: []byte(r.cfgNew)}
	r.changes = append([]files.Change{change}, r.changes...)
}
