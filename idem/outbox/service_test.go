package outbox_test

import (
	"github.com/idemgen/idemgen/idem"
	"github.com/idemgen/idemgen/idem/outbox"
)

// A Dispatcher is what a service takes as its Outbox.
var _ idem.Outbox = (*outbox.Dispatcher)(nil)
