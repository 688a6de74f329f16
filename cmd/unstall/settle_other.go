//go:build !linux

package main

import "context"

func settle(context.Context) {}
