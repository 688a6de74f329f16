package main

// catalogue lists every recording.
func catalogue() []recording {
	return requestTraces()
}
