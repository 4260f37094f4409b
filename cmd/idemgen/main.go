// Command idemgen turns annotated SQL into HTTP handlers that are safe to
// retry; see `idemgen --help`.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/idemgen/idemgen/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Main(ctx, cli.Env{
		Args:     os.Args[1:],
		Stdout:   os.Stdout,
		Stderr:   os.Stderr,
		Getenv:   os.Getenv,
		Terminal: isTerminal(os.Stderr),

		Stdin:       os.Stdin,
		Interactive: isTerminal(os.Stdin),
		Width:       width(os.Stdout),
		ErrWidth:    width(os.Stderr),
	})
	stop()
	os.Exit(code)
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
