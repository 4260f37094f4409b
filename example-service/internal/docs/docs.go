// Package docs serves the API's document, and a page that shows it. The page is
// Swagger UI from its npm package swagger-ui-dist, version 5.35.0 (Apache 2.0:
// LICENSE and NOTICE are beside it), and needs nothing from elsewhere.
package docs

import (
	"embed"
	"net/http"
)

//go:embed index.html start.js swagger-ui
var page embed.FS

// policy lets the page load and call nothing but its own server: what it needs is
// bundled.
const policy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'"

// Handler serves document at /openapi.yaml, and the page at /docs/.
func Handler(document []byte) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /openapi.yaml", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/yaml")
		_, _ = w.Write(document)
	})
	files := http.StripPrefix("/docs/", http.FileServerFS(page))
	mux.Handle("GET /docs", http.RedirectHandler("/docs/", http.StatusMovedPermanently))
	mux.HandleFunc("GET /docs/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		files.ServeHTTP(w, r)
	})
	return mux
}
