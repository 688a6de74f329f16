package main

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/template"

	"go.yaml.in/yaml/v3"
)

// The chart renders to the DaemonSet of deploy/kubernetes, with and without optional values. The test does not run Helm: it
// renders with text/template and the functions below.
func TestChart(t *testing.T) {
	const dir = "../../deploy/helm/unstall/"
	read := func(name string) []byte {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	indent := func(n int, s string) string {
		return "\n" + strings.Repeat(" ", n) + strings.ReplaceAll(s, "\n", "\n"+strings.Repeat(" ", n))
	}
	chart := template.Must(template.New("").Option("missingkey=error").Funcs(template.FuncMap{
		"quote":   func(v any) string { return strconv.Quote(strings.TrimSpace(yamlOf(t, v))) },
		"toYaml":  func(v any) string { return strings.TrimSpace(yamlOf(t, v)) },
		"nindent": indent,
	}).Parse(string(read(dir + "templates/daemonset.yaml"))))
	type container struct {
		Args            []string
		Env             []struct{ Name string }
		SecurityContext map[string]any `yaml:"securityContext"`
	}
	type daemons struct {
		Kind string
		Spec struct {
			Template struct {
				Spec struct {
					HostPID    bool `yaml:"hostPID"`
					Containers []container
				}
			}
		}
	}
	var plain daemons
	for _, document := range bytes.Split(read("../../deploy/kubernetes/daemonset.yaml"), []byte("\n---\n")) {
		if err := yaml.Unmarshal(document, &plain); err != nil {
			t.Fatal(err)
		}
	}
	for _, set := range []map[string]any{nil, {"webhookSecret": "hooks", "args": []any{"--slo", "300ms"}, "nodeSelector": map[string]any{"pool": "web"}, "tolerations": []any{}}} {
		var values map[string]any
		if err := yaml.Unmarshal(read(dir+"values.yaml"), &values); err != nil {
			t.Fatal(err)
		}
		for k, v := range set {
			if _, known := values[k]; !known {
				t.Errorf("values.yaml does not say that %s can be set", k)
			}
			values[k] = v
		}
		var out bytes.Buffer
		if err := chart.Execute(&out, map[string]any{"Values": values, "Release": map[string]any{"Name": "unstall", "Namespace": "prod"}}); err != nil {
			t.Fatal(err)
		}
		var d daemons
		if err := yaml.Unmarshal(out.Bytes(), &d); err != nil {
			t.Fatalf("%v:\n%s", err, out.String())
		}
		pod := d.Spec.Template.Spec
		if d.Kind != "DaemonSet" || !pod.HostPID || len(pod.Containers) != 1 {
			t.Fatalf("%s", out.String())
		}
		want := plain.Spec.Template.Spec.Containers[0]
		got := pod.Containers[0]
		if !slices.Equal(got.Args[:len(want.Args)], want.Args) || yamlOf(t, got.SecurityContext) != yamlOf(t, want.SecurityContext) {
			t.Errorf("%q with %v; want %q with %v", got.Args, got.SecurityContext, want.Args, want.SecurityContext)
		}
		if hooked := slices.ContainsFunc(got.Env, func(e struct{ Name string }) bool { return e.Name == "UNSTALL_WEBHOOK" }); hooked != (set != nil) {
			t.Errorf("with %v the webhook is set: %v", set, hooked)
		}
		if set != nil && !slices.Equal(got.Args[len(want.Args):], []string{"--slo", "300ms"}) {
			t.Errorf("arguments %q", got.Args)
		}
	}
}

func yamlOf(t *testing.T, v any) string {
	text, err := yaml.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
