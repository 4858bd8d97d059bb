// Package bisect finds the first bad of several states, of which the first is good and the last is bad,
// by asking as few of them as it can. It knows nothing of what a state is.
package bisect
