// For building the services of the labs with older toolchains, back to Go 1.21:
//
//	GOTOOLCHAIN=go1.21.13 go build -modfile=lab/go1.21.mod ./lab/go-ballast/gateway
module github.com/unstall/unstall

go 1.21
