package generator

import "slices"

// migrationPaths are the files of the migration folder, those that are missing
// included.
func (r *runner) migrationPaths() []string {
	out, err := r.tree.SQL([]string{r.cfg.Migrations})
	if err != nil {
		out = nil // the folder is yet to be made
	}
	for _, f := range r.migrations {
		if !slices.Contains(out, f.Path) {
			out = append(out, f.Path)
		}
	}
	return out
}
