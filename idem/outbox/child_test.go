package outbox

const childEnv = "IDEMGEN_OUTBOX_TEST_CHILD"

func dispatchUntilKilled() {}
