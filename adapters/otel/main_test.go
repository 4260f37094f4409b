package idemotel

import (
	"log/slog"
	"testing"

	"github.com/idemgen/idemgen/idem/idemtest"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler)) // what Do logs
	idemtest.Main(m)
}
