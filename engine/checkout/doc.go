// Package checkout writes trees into a directory of their own: an old state beside the
// new one, or one state after the other in the same directory.
//
//  1. Options.Walk says what is wanted; the first Move writes all of it, a later one only what differs.
//  2. Names that are wanted no more go, directories are made, files and links are written, and last
//     directories get their modes, so that one without write permission can be filled.
//  3. A file that the Donor, mostly the working tree, is known to hold as it is wanted is cloned from
//     there where the file system can. Every other one comes from the Source, verified.
//
// What was written is remembered with its stat. So a later Move finds what somebody has changed since
// and makes it exact again; what somebody added where no state has a path stays.
//
// It never follows a link, makes no hard link, and knows neither store nor rules.
package checkout
