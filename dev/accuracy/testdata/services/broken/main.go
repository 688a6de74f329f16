// Broken ends before it serves anything.
package main

import "log"

func main() { log.Fatal("no such table: orders") }
