package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// modules writes the modules of a binary, as SPDX 2.3 (https://spdx.github.io/spdx-spec/v2.3/),
// from the build information that the linker put into it.
func (r *release) modules(t target, bin string) error {
	info, err := buildinfo.ReadFile(bin)
	if err != nil {
		return err
	}
	type reference struct {
		Category string `json:"referenceCategory"`
		Type     string `json:"referenceType"`
		Locator  string `json:"referenceLocator"`
	}
	type one struct {
		ID         string      `json:"SPDXID"`
		Name       string      `json:"name"`
		Version    string      `json:"versionInfo"`
		Download   string      `json:"downloadLocation"`
		Analyzed   bool        `json:"filesAnalyzed"`
		Concluded  string      `json:"licenseConcluded"`
		Declared   string      `json:"licenseDeclared"`
		Copyright  string      `json:"copyrightText"`
		References []reference `json:"externalRefs,omitempty"`
	}
	type relation struct {
		From string `json:"spdxElementId"`
		Kind string `json:"relationshipType"`
		To   string `json:"relatedSpdxElement"`
	}
	const none = "NOASSERTION"
	name := fmt.Sprintf("unstall-%s-%s-%s", r.version, t.os, t.arch)
	packages := []one{{ID: "SPDXRef-unstall", Name: info.Main.Path, Version: r.version, Download: none, Concluded: none, Declared: none, Copyright: none},
		{ID: "SPDXRef-go", Name: "stdlib", Version: strings.TrimPrefix(info.GoVersion, "go"), Download: "https://go.dev/dl/", Concluded: none, Declared: none, Copyright: none,
			References: []reference{{"PACKAGE-MANAGER", "purl", "pkg:golang/stdlib@" + strings.TrimPrefix(info.GoVersion, "go")}}}}
	relations := []relation{{"SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-unstall"}, {"SPDXRef-unstall", "CONTAINS", "SPDXRef-go"}}
	for i, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		id := fmt.Sprintf("SPDXRef-module-%d", i+1)
		packages = append(packages, one{ID: id, Name: m.Path, Version: m.Version, Download: "https://proxy.golang.org/" + strings.ToLower(m.Path) + "/@v/" + m.Version + ".zip", Concluded: none, Declared: none, Copyright: none,
			References: []reference{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + m.Path + "@" + m.Version}}})
		relations = append(relations, relation{"SPDXRef-unstall", "CONTAINS", id})
	}
	document := map[string]any{
		"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": name,
		"documentNamespace": "https://github.com/unstall/unstall/releases/download/v" + r.version + "/" + name + ".spdx.json",
		"creationInfo":      map[string]any{"created": r.at.Format(time.RFC3339), "creators": []string{"Tool: unstall/dev/release"}},
		"packages":          packages, "relationships": relations,
	}
	text, err := json.MarshalIndent(document, "", " ")
	if err != nil {
		return err
	}
	r.files = append(r.files, name+".spdx.json")
	return os.WriteFile(filepath.Join(r.out, name+".spdx.json"), append(text, '\n'), 0o644)
}
