package render

import (
	"strings"
	"testing"

	"github.com/idemgen/idemgen/generator/config"
)

// Every profile of the configuration has its constant in the runtime.
func TestEmittedProfile(t *testing.T) {
	for profile, want := range map[string]string{
		config.ProfileIETF: "idem.ProfileIETF,", config.ProfileStripe: "idem.ProfileStripe,", config.ProfileGateway: "idem.ProfileGateway,",
	} {
		svc := service()
		svc.Profile = profile
		got, err := Emit("", svc, nil)
		if err != nil || len(got) == 0 || !strings.Contains(string(got[0].Content), want) {
			t.Errorf("%s: no %s, %v", profile, want, err)
		}
	}
	if len(profiles) != len(config.Profiles()) {
		t.Errorf("%d profiles, %d of the configuration", len(profiles), len(config.Profiles()))
	}
}
