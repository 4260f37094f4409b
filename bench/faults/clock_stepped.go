//go:build faultclock

package main

import (
	"net/http"
	"time"
)

// stepClock steps the clock of this process. It refuses where that can't be seen.
func stepClock(w http.ResponseWriter, r *http.Request) {
	by, err := time.ParseDuration(r.FormValue("by"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	before, old := time.Now(), time.Step.Load()
	time.Step.Store(int64(by / time.Second))
	moved := time.Now().Round(0).Sub(before.Round(0)) // by the wall clock
	if wanted := by - time.Duration(old)*time.Second; (moved - wanted).Abs() > time.Second {
		http.Error(w, "the clock does not follow", http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
