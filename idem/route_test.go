package idem

import "testing"

func TestRouteShape(t *testing.T) {
	tests := []struct {
		a, b string
		meet bool
	}{
		{"/v1/tickets", "/v1/tickets/", true},
		{"/v1/tickets/{id}", "/v1/tickets/{name}", true},
		{"/v1/tickets/{id}", "/v1/tickets/{id:[0-9]+}", false},
		{"/v1/tickets/{a:[0-9]{2}}", "/v1/tickets/{b:[0-9]{2}}", true},
		{"/v1/tickets", "/v1/ticket", false},
		{"/", "", false},
	}
	for _, tt := range tests {
		if got := RouteShape("POST", tt.a) == RouteShape("POST", tt.b); got != tt.meet {
			t.Errorf("%s and %s: %v", tt.a, tt.b, got)
		}
	}
	if RouteShape("GET", "/") == RouteShape("POST", "/") {
		t.Error("the method does not count")
	}
}
