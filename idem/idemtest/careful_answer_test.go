package idemtest

import (
	"fmt"
	"io"
	"net/http"
)

// outcome is a refusal in place of an answer.
type outcome struct {
	code   string
	detail string
}

func (o outcome) Error() string { return o.code }

// record is a row of idem.keys, or an answer that has none.
type record struct {
	status   int
	headers  map[string]string
	body     string
	print    []byte
	replayed bool
	running  bool
	final    bool // though it is a server error
}

// refusal is an answer of the profile.
func (job *work) refusal(o outcome) record {
	got := record{status: job.by.statusOf(o.code), headers: map[string]string{}}
	switch o.code {
	case codeReused:
		if job.reusedIs > 0 {
			got.status = job.reusedIs
		}
	case codeInFlight:
		got.running = true
		got.headers["Retry-After"] = "1"
		if job.flightIs500 {
			o.code = "internal"
			got = record{status: http.StatusInternalServerError, final: lifetimes[job.profile].ServerError > 0, headers: map[string]string{}}
		}
		if job.by.running != "" && !job.flightHasBody {
			return got
		}
	case "unavailable":
		got.status = http.StatusServiceUnavailable
		got.headers["Retry-After"] = "1"
	case "body-malformed":
		got.status = http.StatusBadRequest
	case "over-limit":
		got.status = http.StatusPaymentRequired
	case "internal":
		got.status = http.StatusInternalServerError
	}
	got.body = job.problem(got.status, o)
	return got
}

func (job *work) problem(status int, o outcome) string {
	if job.hides {
		return "<sorry/>"
	}
	if !job.by.problems {
		return fmt.Sprintf(`{"code": "%d", "message": "%s %s"}`, status, o.code, o.detail)
	}
	return fmt.Sprintf(`{"status": %d, "code": %q, "detail": %q}`, status, o.code, o.detail)
}

// write sends an answer.
func (job *work) write(w http.ResponseWriter, got record) {
	for name, value := range got.headers {
		w.Header().Set(name, value)
	}
	if !got.replayed {
		w.Header().Set("Set-Cookie", "session="+job.tenant)
	}
	if job.key != "" && !job.noEcho {
		w.Header().Set(job.by.keyHeader, job.by.echoOf(job.key))
	}
	marker := job.by.ran
	switch {
	case got.running && job.by.running != "":
		marker = job.by.running
	case got.replayed:
		marker = job.by.replay
	}
	if got.replayed && job.unmarked || !got.replayed && job.firstUnmarked || job.key == "" && !job.marksUnprotected {
		marker = ""
	}
	if marker != "" {
		w.Header().Set(job.by.marker, marker)
	}
	job.advise(w.Header(), got)
	w.WriteHeader(got.status)
	if got.replayed && job.otherBytes {
		got.body += " "
	}
	_, _ = io.WriteString(w, got.body)
}

// advise says whether to send the request again.
func (job *work) advise(header http.Header, got record) {
	again := "false"
	switch {
	case header.Get("Retry-After") != "":
		again = "true"
	case got.status < 400, got.status >= 500 && !got.replayed && !got.final:
		return
	}
	switch {
	case job.noAdvice, job.replaysUnadvised && got.replayed:
		return
	case job.advisesAll:
		again = "true"
	case job.advisesNone:
		again = "false"
	case job.noRetryAfter:
		header.Del("Retry-After")
	}
	header.Set(adviceHeader, again)
}
