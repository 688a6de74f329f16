package evidence

import "go/version"

// VersionAtLeast is the newest of the versions that the evidence about a subject
// shows it to have at least: each format knows only when its own form came up.
func (b *Bundle) VersionAtLeast(subject SubjectID) (release string, ok bool) {
	for _, f := range b.Facts {
		if f.Subject == subject && f.Key == FactVersionAtLeast && version.Compare(f.Value, release) > 0 {
			release = f.Value
		}
	}
	return release, release != ""
}
