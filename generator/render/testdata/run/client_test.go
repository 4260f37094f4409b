package run

import (
	"encoding/json"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/idemgen/idemgen/generator/render/testdata/golden/kindsclient"
)

// answering is a server that answers with body, and keeps what it was sent.
func answering(t *testing.T, body string) (c *kindsclient.Client, last func() (*http.Request, map[string]any)) {
	t.Helper()
	var request *http.Request
	var sent []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		request = r
		sent, _ = io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	c, err := kindsclient.New(server.URL, kindsclient.Options{Transport: server.Client().Transport})
	if err != nil {
		t.Fatal(err)
	}
	return c, func() (*http.Request, map[string]any) {
		var members map[string]any
		if err := json.Unmarshal(sent, &members); err != nil {
			t.Fatalf("%s: %v", sent, err)
		}
		return request, members
	}
}

// Nobody's times are finer than PostgreSQL's when they are sent, and the
// caller's values stay as they are.
func TestClientSendsWhatTheServiceTakes(t *testing.T) {
	c, last := answering(t, "null")
	fine := time.Date(2026, 1, 2, 3, 4, 5, 123456789, time.UTC)
	in := kindsclient.EveryKindInput{
		ID: fine, XTags: []string{"a", "b"}, Int8: math.MaxInt64, QInt8: math.MinInt64, Float8: kindsclient.Float(math.NaN()),
		Timestamptz: fine, TimestamptzNull: &fine, TimestamptzList: []time.Time{fine},
		Lines: []kindsclient.EveryKindInputLines{{At: fine}},
		Asked: &kindsclient.EveryKindInputAsked{
			Timestamptz: kindsclient.Some(&fine), Text: kindsclient.Some[*string](nil),
		},
	}
	out, err := c.EveryKind(t.Context(), in, kindsclient.WithForceRetry())
	if err != nil || out != nil {
		t.Fatalf("%v %v", out, err)
	}
	if !in.TimestamptzNull.Equal(fine) || !in.TimestamptzList[0].Equal(fine) || !in.Lines[0].At.Equal(fine) {
		t.Error("the caller's times were changed")
	}
	request, sent := last()
	const cut = "2026-01-02T03:04:05.123456Z"
	asked := sent["asked"].(map[string]any)
	for what, got := range map[string]any{
		"time": sent["timestamptz"], "nullable time": sent["timestamptz_null"], "list of times": sent["timestamptz_list"].([]any)[0],
		"element": sent["lines"].([]any)[0].(map[string]any)["at"], "asked time": asked["timestamptz"], "path": request.URL.Path[len("/kinds/"):],
	} {
		if got != cut {
			t.Errorf("%s: %v", what, got)
		}
	}
	if text, ok := asked["text"]; !ok || text != nil || len(asked) != 2 {
		t.Errorf("asked %v", asked)
	}
	if sent["int8"] != "9223372036854775807" || request.URL.Query().Get("q_int8") != "-9223372036854775808" || sent["float8"] != "NaN" {
		t.Errorf("%v %v %s", sent["int8"], sent["float8"], request.URL.RawQuery)
	}
	if _, ok := sent["text_null"]; ok || request.URL.Query().Has("q_text_null") {
		t.Error("what is nil was sent")
	}
	if tags := request.Header.Values("X-Tags"); len(tags) != 2 || request.Header.Get("X-Idempotency-Key") == "" || request.Header.Get("X-Force-Retry") != "true" {
		t.Errorf("headers %v", request.Header)
	}
}

func TestClientReadsWhatTheServiceGives(t *testing.T) {
	c, _ := answering(t, `{"bool": true, "int8": "9007199254740993", "int8_null": null, "int8_list": ["1", "2"], "float8": "-Infinity", "float8_null": 1.5,
		"numeric": "1.50", "timestamptz": "2026-01-02T03:04:05.123456Z", "bytea": "AAE=", "json": {"a": [1]}, "later": 1}`)
	out, err := c.EveryKind(t.Context(), kindsclient.EveryKindInput{})
	if err != nil {
		t.Fatal(err)
	}
	if !out.Bool || out.Int8 != 9007199254740993 || out.Int8Null != nil || len(out.Int8List) != 2 || !math.IsInf(float64(out.Float8), -1) || *out.Float8Null != 1.5 ||
		out.Numeric != "1.50" || out.Timestamptz.Nanosecond() != 123456000 || len(out.Bytea) != 2 || string(out.Json) != `{"a": [1]}` {
		t.Errorf("%+v", out)
	}
}
