// Package sqltext reads one SQL statement and says where its parts are, as
// byte offsets in the original text, so that the plan can rewrite a user's
// statement without deparsing it: comments, spelling and layout survive.
//
// Clauses are found with PostgreSQL's own scanner at parenthesis depth 0 and
// the parse tree, so that nested selects, strings and comments never confuse
// it. Nothing here keeps state; every function may be called concurrently.
package sqltext
