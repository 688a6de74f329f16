package model

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// Schema is the version of the JSON form of an [Answer]. Fields are added, never
// renamed; unknown is null, never 0.
const Schema = "unstall.prediction/v1"

// firstKeys are those that the first models wrote before rows were the form of all: they
// stand in every answer, in this order, empty where it is of another model. A new model
// has its own part under a key of its own.
var firstKeys = []struct{ key, empty string }{
	{"calibration", "null"}, {"measured", "null"}, {"now", "null"}, {"settings", "[]"}, {"frontier", "null"}, {"ballast_bytes", "null"},
	{"pool", "null"}, {"young", "null"},
}

// MarshalJSON writes what all answers have and, beside it, the model's own part.
func (a *Answer) MarshalJSON() ([]byte, error) {
	own, err := a.ownFields()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteByte('{')
	field := func(key string, v any) {
		text, e := json.Marshal(v)
		if e != nil {
			err = e
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		name, _ := json.Marshal(key)
		b.Write(name)
		b.WriteByte(':')
		b.Write(text)
	}
	field("schema", Schema)
	field("tool_version", a.ToolVersion)
	field("subject", a.Subject)
	field("model", a.Model)
	for _, k := range firstKeys {
		v := json.RawMessage(k.empty)
		if o, ok := own[k.key]; ok {
			v = o
			delete(own, k.key)
		}
		field(k.key, v)
	}
	for _, key := range slices.Sorted(maps.Keys(own)) {
		field(key, own[key])
	}
	field("basis", nonNilTexts(a.Basis))
	var source *string
	if a.Source != "" {
		source = &a.Source
	}
	field("source", source)
	field("rows", toRowsJSON(a.Rows))
	field("choice", a.Frontier)
	field("notes", nonNilTexts(a.Notes))
	b.WriteByte('}')
	return b.Bytes(), err
}

// ownFields returns the model's part by its keys.
func (a *Answer) ownFields() (map[string]json.RawMessage, error) {
	own := make(map[string]json.RawMessage)
	if a.Own == nil {
		return own, nil
	}
	text, err := json.Marshal(a.Own)
	if err == nil && a.Key == "" {
		return own, json.Unmarshal(text, &own)
	}
	own[a.Key] = text
	return own, err
}

func nonNilTexts(all []string) []string { return append([]string{}, all...) }

type rowJSON struct {
	Asked   string       `json:"asked"`
	Effects []effectJSON `json:"effects"`
	Facts   []factJSON   `json:"facts"`
}

type effectJSON struct {
	Title string   `json:"title"`
	Unit  string   `json:"unit"`
	Now   Estimate `json:"now"`
	Then  Estimate `json:"then"`
}

type factJSON struct {
	Name    string `json:"name"`
	Text    string `json:"text"`
	Caution bool   `json:"caution"`
}

func toRowsJSON(all []Row) []rowJSON {
	out := []rowJSON{}
	for _, r := range all {
		j := rowJSON{Asked: r.Text, Effects: []effectJSON{}, Facts: toFactsJSON(r.Facts)}
		for _, e := range r.Effects {
			j.Effects = append(j.Effects, effectJSON(e))
		}
		out = append(out, j)
	}
	return out
}

func toFactsJSON(all []Fact) []factJSON {
	out := []factJSON{}
	for _, f := range all {
		out = append(out, factJSON(f))
	}
	return out
}

// MarshalJSON writes a frontier as a table: figures in the order of its columns.
func (f *Frontier) MarshalJSON() ([]byte, error) {
	type column struct {
		Title string `json:"title"`
		Unit  string `json:"unit"`
	}
	type point struct {
		Text   string     `json:"text"`
		Mark   string     `json:"mark"` // "now", "knee", ""
		Values []Estimate `json:"values"`
	}
	j := struct {
		Title   string     `json:"title"`
		Columns []column   `json:"columns"`
		Points  []point    `json:"points"`
		Text    string     `json:"text"`
		Facts   []factJSON `json:"facts"`
	}{f.Title, []column{}, []point{}, f.Text, toFactsJSON(f.Facts)}
	for _, c := range f.Columns {
		j.Columns = append(j.Columns, column{c.Title, c.Unit})
	}
	for i, p := range f.Points {
		j.Points = append(j.Points, point{p.Text, f.Marked(i), p.Values})
	}
	return json.Marshal(j)
}
