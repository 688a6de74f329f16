//go:build !linux

package main

import "context"

func releasePages(context.Context) {}
