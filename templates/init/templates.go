// Package scaffold holds what `idemgen init` writes: new/ for a service of its
// own, existing/ for one that has code already. Names end in .tmpl; the rest
// of the path is the file's place.
package scaffold

import "embed"

// FS holds the templates.
//
//go:embed new existing
var FS embed.FS
