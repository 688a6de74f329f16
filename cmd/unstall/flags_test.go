package main

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/operate/watch/notify"
)

// recordingFields returns the exported fields of [recording] with the names of their flags.
func recordingFields() (fields []reflect.StructField, names []string) {
	for f := range reflect.TypeFor[recording]().Fields() {
		if f.IsExported() {
			name := f.Tag.Get("name")
			if name == "" {
				name = strings.ToLower(f.Name)
			}
			fields, names = append(fields, f), append(names, name)
		}
	}
	return fields, names
}

// TestRecordingFlagsRefused checks that each flag of a recording is refused where only files are given, or does something there, too.
func TestRecordingFlagsRefused(t *testing.T) {
	alsoForFiles := map[string]string{"expect-rate": "a diagnosis of files compares their rate with it"}
	_, names := recordingFields()
	for _, name := range names {
		if refused, used := slices.Contains(recordingFlags, name), alsoForFiles[name] != ""; refused == used {
			t.Errorf("--%s is a field of recording: put it into recordingFlags (given.go), or say here what it does for files", name)
		}
	}
	for _, name := range recordingFlags {
		if !slices.Contains(names, name) {
			t.Errorf("recordingFlags has --%s, which is no field of recording", name)
		}
	}
}

// TestTypedFlags checks that the printed command of a sidecar has each flag of a recording, and that parsing it gives the same recording.
func TestTypedFlags(t *testing.T) {
	leftOut := map[string]string{"capture": "the file would be lost with the container"}
	fields, names := recordingFields()
	for i, f := range fields {
		r := recording{For: 30 * time.Second}
		switch v := reflect.ValueOf(&r).Elem().FieldByIndex(f.Index); v.Kind() {
		case reflect.Bool:
			v.SetBool(true)
		case reflect.Float64:
			v.SetFloat(12.5)
		case reflect.String:
			v.SetString("127.0.0.1:4318")
		case reflect.Int64:
			v.SetInt(int64(7 * time.Second))
		default:
			t.Fatalf("--%s is of a kind that this test does not know", names[i])
		}
		words := r.typedFlags()
		if has := slices.Contains(words, "--"+names[i]); has == (leftOut[names[i]] != "") {
			t.Errorf("--%s is a field of recording: typedFlags (debug.go) returns %q; add it there, or say here why it is left out", names[i], words)
			continue
		}
		if leftOut[names[i]] != "" {
			continue
		}
		parser := newParser()
		if _, err := parser.Parse(append([]string{"debug", "pod/x"}, words...)); err != nil {
			t.Errorf("%q: %v", words, err)
			continue
		}
		program := parser.Model.Target.Interface().(cli)
		if got := program.Debug.recording; got != r {
			t.Errorf("%q are read as %+v, want %+v", words, got, r)
		}
	}
}

// TestWebhookForms checks that the help of --webhook names all forms of webhooks, and no others.
func TestWebhookForms(t *testing.T) {
	f, _ := reflect.TypeFor[watchCommand]().FieldByName("Webhook")
	_, list, _ := strings.Cut(f.Tag.Get("help"), "show: ")
	list, _, _ = strings.Cut(list, " (default")
	list = strings.NewReplacer(" (logs)", "", " or ", ", ").Replace(list)
	if got, want := strings.Split(list, ", "), notify.Names(); !slices.Equal(got, want) {
		t.Errorf("the help of --webhook names the forms %q, internal/operate/watch/notify has %q", got, want)
	}
	f, _ = reflect.TypeFor[watchCommand]().FieldByName("Token")
	for _, form := range notify.Forms {
		if has := strings.Contains(f.Tag.Get("help"), form.Name); has != form.Bearer {
			t.Errorf("the help of --token-file names %s: %v; its messages have the token: %v", form.Name, has, form.Bearer)
		}
	}
}
