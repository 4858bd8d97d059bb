// Package setup has the commands that set rewind up and look after it: init, config, status and watch.
package setup
