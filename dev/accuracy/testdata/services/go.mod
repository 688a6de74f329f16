module example.org/services

go 1.26.0
