package cli

import (
	"testing"

	"github.com/idemgen/idemgen/idem/idemtest"
	"github.com/idemgen/idemgen/internal/cli/doctor"
)

// TestDoctorFindsHeldAndOverdueWork beside work that is new, leased, or done.
func TestDoctorFindsHeldAndOverdueWork(t *testing.T) {
	url, _ := workOfAllKinds(t)
	found := examine(t, exitFindings, "--db", url, "-C", t.TempDir())
	finds(t, found, "unfinished work", doctor.Problem, "3 operations are held for an operator")
	finds(t, found, "unfinished work", doctor.Warning, "1 operation is due for over 10m0s")
	finds(t, found, "grants", doctor.OK, "has what the service needs")
}

// TestDoctorFindsMissingGrants of the role that the URL names.
func TestDoctorFindsMissingGrants(t *testing.T) {
	url := idemtest.URL(t, utc, `DO $$ BEGIN
		IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'doctor_app') THEN CREATE ROLE doctor_app LOGIN; END IF; END $$;
		GRANT USAGE ON SCHEMA idem TO doctor_app; GRANT SELECT, INSERT, UPDATE, DELETE ON idem.keys TO doctor_app; GRANT SELECT ON idem.outbox TO doctor_app`)
	found := examine(t, exitFindings, "--db", url+"&options=-c%20role%3Ddoctor_app", "-C", t.TempDir())
	finds(t, found, "grants", doctor.Problem, "lacks INSERT, UPDATE, DELETE on idem.outbox")
	finds(t, found, "grants", doctor.Problem, "lacks SELECT, INSERT, UPDATE, DELETE on idem.work")
	if len(found["grants"]) != 2 {
		t.Errorf("%v", found["grants"])
	}
}
