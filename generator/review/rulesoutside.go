package review

var outsideRules = []Rule{
	{"async-changed", Risk, "Clients get 202 and an event where they got the answer, or the other way round; requests under way at the deploy are of the other kind.",
		"Give it a new route, and keep the old operation until its work is done."},
	{"call-added", Risk, "What comes before it is committed, and seen, before the operation has succeeded.", "Let the rows say that they are not done yet; give the call an undo."},
	{"call-removed", Risk, "Work that stands at it when the new version starts no longer fits, and is held.", "Deploy it when `idemgen keys list --unfinished` is empty."},
	{"undo-dropped", Risk, "What was called stays done where a later step refuses.", "Keep the undo, or make sure that no later step can refuse."},
	{"unknown-changed", Risk, "retry: a call that was done may be made again, and only its key keeps it from a second effect. hold: an operator has to decide.",
		"Check that the other system honours the key; or that somebody looks at `idemgen keys list --held`."},
	{"event-dropped", Risk, "Consumers of the topic are told no more.", "Keep it until no consumer needs it."},
	{"event-topic", Risk, "Consumers of the old topic are told no more; a sink must take the new one.", "Write both for a while."},
	{"event-order", Risk, "Events that went in order may overtake each other; those of before wait under the old key.", "Check what consumers count on."},
	{"event-condition", Risk, "There are events where there were none, or none where there were.", "Check what consumers count on."},
	{"event-payload", Risk, "Consumers that read it break.", "Keep it for a while."},
	{"event-added", Note, "A sink must take the topic, or its events wait.", "Check the dispatcher's sinks."},
	{"webhook-moved", Risk, "The operation is part of the key: a delivery that is repeated after the deploy is done a second time.", "Deploy it when no delivery is repeated, or keep the stored name by @operation."},
	{"webhook-dropped", Risk, "Its deliveries are acknowledged and nothing is done.", "Switch them off at the sender first."},
}
