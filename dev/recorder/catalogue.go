package main

// allRecordings returns every recording.
func allRecordings() (all []recording) {
	all = append(all, requestTraces()...)
	all = append(all, goFixtures()...)
	all = append(all, serviceFixtures()...)
	all = append(all, linuxFixtures()...)
	all = append(all, nativeFixtures()...)
	all = append(all, redisServers()...)
	all = append(all, dotnetFixtures()...)
	all = append(all, jvmFixtures()...)
	return append(all, ballastRecordings()...)
}

// newFixture returns a recording that a cause's tests read.
func newFixture(id, about string, r recording) recording {
	r.id, r.about = id, about
	r.dir = "internal/diagnose/check/testdata/" + id
	r.accessLog = true
	return r
}

// withChange returns a copy of the recording with a change.
func (r recording) withChange(change func(*recording)) recording {
	change(&r)
	return r
}
