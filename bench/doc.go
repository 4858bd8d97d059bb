// Package bench compares rewind with its peers and with what the machine can do
// at all. `make bench` runs it:
//
//  1. bench/compare builds rewind and the small programs beside this file, makes
//     the trees (package workload: same seed, same bytes) and copies the real
//     ones.
//  2. Each line of the table has subjects: rewind, a floor (bench/rawwalk, a
//     bare write loop, tar) and peers (shadow git, restic, borg, a tar.gz per
//     checkpoint). They run in turns, so that a busy moment hits all of them.
//  3. Each run is a whole process, started by bench/launch, which gives its wall
//     time and peak memory (package measure).
//  4. Package report makes the table, with the spread of each number, its ratio
//     to the floor and to the best peer, and what the budget says; bench/plot
//     draws the curves.
//  5. Pushes and clones go to versitygw, an S3 server on the loopback, through a proxy that counts requests and bytes. The
//     server is in bench/server, a module of its own, which make test-servers uses, too. bench/kopia is the module of a peer
//     that has no package.
//
// The parts can be run one by one: BENCHFLAGS='-run=^hook$' (see -help for their
// names); with -docs docs/bench -readme README.md, a part that is run
// alone replaces only its own lines of the stored result. A part that fails is reported, and the others still run.
//
// A peer that is not installed is named and left out. Nothing is kept from one
// run to the next.
package bench
