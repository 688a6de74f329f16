module github.com/unstall/unstall/lab/accuracy

go 1.26.0
