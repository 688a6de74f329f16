module github.com/unstall/unstall/dev/bench/dotnetdiag

go 1.26.0

require (
	github.com/Microsoft/go-winio v0.5.0 // indirect
	github.com/pyroscope-io/dotnetdiag v1.2.1
	golang.org/x/sys v0.0.0-20210124154548-22da62e12c0c // indirect
	golang.org/x/text v0.3.6 // indirect
)
