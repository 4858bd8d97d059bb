// Package testlab is a project for tests: a temporary directory with a home of its own, an agent that works in it, and what
// tests ask of both. A package that adds helpers of its own embeds Lab.
package testlab
