package main

import (
	"strings"
	"testing"
)

// TestPrograms checks that every program is pinned, runs healthy first, and has a sick variant, and that names are unique.
func TestPrograms(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range programs {
		switch f := p.fetch.(type) {
		case goModule:
			if !strings.HasPrefix(f.sum, "h1:") || f.version == "" {
				t.Errorf("%s: version %q and sum %q are not pinned", p.name, f.version, f.sum)
			}
		case maven:
			for _, a := range f {
				if len(a.sum) != 64 {
					t.Errorf("%s: the sum of %s is not pinned", p.name, a.coordinates)
				}
			}
		case mavenTree:
			if len(f.sum) != 64 {
				t.Errorf("%s: its sum is not pinned", p.name)
			}
		}
		if len(p.variants) < 2 || p.variants[0].name != "healthy" {
			t.Errorf("%s: wants a healthy variant first, and a sick one", p.name)
		}
		for _, v := range p.variants {
			name := p.name + "/" + v.name
			if seen[name] || v.truth == "" {
				t.Errorf("%s: twice, or without what is true", name)
			}
			seen[name] = true
			if c, err := choosePrograms(name); err != nil || len(c) != 1 || len(c[0].variants) != 1 {
				t.Errorf("%s: chosen %+v, %v", name, c, err)
			}
		}
	}
	if _, err := choosePrograms("caddy/nothing"); err == nil {
		t.Error("a variant that is not there was chosen")
	}
}

func TestArtifactFile(t *testing.T) {
	for coordinates, want := range map[string]string{
		"org.apache.tomcat:tomcat:10.1.34:zip":              "tomcat-10.1.34.zip",
		"org.apache.activemq:apache-artemis:2.39.0:zip:bin": "apache-artemis-2.39.0-bin.zip",
		"org.eclipse.jetty:jetty-home:12.0.16:zip":          "jetty-home-12.0.16.zip",
	} {
		if got := (artifact{coordinates: coordinates}).fileName(); got != want {
			t.Errorf("%s: %s", coordinates, got)
		}
	}
}
