//go:build !linux

package main

import "errors"

func syncAll(string) error { return errors.New("only Linux has syncfs") }
