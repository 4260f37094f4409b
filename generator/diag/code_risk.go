package diag

// Risks: what `idemgen lint` finds in input that generates. All are warnings.
const (
	RiskNoIntent   Code = "IDEM080" // an INSERT that only the key protects
	RiskUnscoped   Code = "IDEM081" // an intent that reaches over the scope
	RiskKey        Code = "IDEM082" // a key that two different requests easily share
	RiskLockOrder  Code = "IDEM083" // rows or tables locked in no fixed order
	RiskIndex      Code = "IDEM084" // a database without the index of an intent
	RiskSession    Code = "IDEM085" // a statement that needs a session of its own
	RiskUnbounded  Code = "IDEM086" // a list without a limit
	RiskKeptSecret Code = "IDEM087" // an answer that holds what looks like a secret
)
