package idem

// Problem is a declared client error: the static part of an RFC 9457 problem.
type Problem struct {
	Status int
	Code   string // stable snake_case or kebab-case word; the type is urn:idemgen:problem:<code>
	Title  string
}
