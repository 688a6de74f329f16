package main

// catalogue lists every recording.
func catalogue() (all []recording) {
	all = append(all, requestTraces()...)
	all = append(all, golang()...)
	all = append(all, services()...)
	all = append(all, linux()...)
	all = append(all, natives()...)
	all = append(all, redisServers()...)
	all = append(all, dotnet()...)
	all = append(all, jvms()...)
	return append(all, ballast()...)
}

// fixture is a recording that a cause's tests read.
func fixture(id, about string, r recording) recording {
	r.id, r.about = id, about
	r.dir = "internal/diagnose/check/testdata/" + id
	r.accessLog = true
	return r
}

// with returns a recording that differs.
func (r recording) with(change func(*recording)) recording {
	change(&r)
	return r
}
