package idem

import "log/slog"

// Options is what a service may choose when it starts. The zero value works.
type Options struct {
	Logger      *slog.Logger // slog.Default() if nil
	ProblemBase string       // "urn:idemgen:problem:" if empty
	Sweeper     Sweeper      // Pool is filled in; zero values are defaults
}
