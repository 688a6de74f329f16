module github.com/unstall/unstall/remedy/go/ballast

go 1.11
