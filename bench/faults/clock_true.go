//go:build !faultclock

package main

import "net/http"

// stepClock is for programs that were built by buildStepped.
func stepClock(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotImplemented) }
