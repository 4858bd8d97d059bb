// Package measure runs whole processes and says what they cost: wall time, peak
// memory, system calls, bytes on disk.
//
//  1. A Runner starts bench/launch, which starts the program (see there, why).
//  2. Alternate runs several subjects in turns, in an order that changes with
//     each round.
//  3. A Spread keeps every sample and gives minimum, median, 90th and 99th percentile.
package measure
