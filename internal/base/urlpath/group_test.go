package urlpath

import (
	"fmt"
	"testing"
)

func TestGroup(t *testing.T) {
	routes := map[string]int{"GET /orders/{id}": 900, "GET /login/admin": 400, "GET /": 3}
	for i := range 60 {
		routes[fmt.Sprintf("POST /login/user-%c%c", 'a'+i/26, 'a'+i%26)] = 1 + i%3
		routes[fmt.Sprintf("GET /shops/%c%c/prices", 'a'+i/26, 'a'+i%26)] = 2
		routes[fmt.Sprintf("GET /login/user-%c%c", 'a'+i/26, 'a'+i%26)] = 9
		if i < 19 { // fewer than are many
			routes[fmt.Sprintf("GET /static/%c.js", 'a'+i)] = 1
		}
		if i < 30 { // many, of which each comes often
			routes[fmt.Sprintf("GET /pages/%c%c", 'a'+i/26, 'a'+i%26)] = 50
		}
	}
	got := Group(routes)
	for in, want := range map[string]string{
		"POST /login/user-ab":  "POST /login/{id}",
		"GET /shops/ab/prices": "GET /shops/{id}/prices",
		"GET /login/user-ab":   "GET /login/{id}",
		"GET /login/admin":     "",
		"GET /static/a.js":     "",
		"GET /pages/ab":        "",
		"GET /orders/{id}":     "",
		"GET /":                "",
	} {
		if got[in] != want {
			t.Errorf("%s: %q, want %q", in, got[in], want)
		}
	}
	if len(got) != 180 {
		t.Errorf("%d routes changed, want 180", len(got))
	}
}

// Two parameters of one path are both found.
func TestGroupTwoParameters(t *testing.T) {
	routes := make(map[string]int)
	for i := range 400 {
		routes[fmt.Sprintf("/shops/s%c%c/items/i%c%c", 'a'+i%20, 'a'+i/20, 'a'+i/20, 'b'+i%20)] = 1
	}
	for in, out := range Group(routes) {
		if out != "/shops/{id}/items/{id}" {
			t.Fatalf("%s: %s", in, out)
		}
	}
}
