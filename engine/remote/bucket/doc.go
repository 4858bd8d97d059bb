// Package bucket keeps objects in a place outside the machine: an S3-compatible server, a directory, for example of a
// network drive, or a git repository. An object is written once, whole, under a name that its writer never uses for other bytes.
//
// What comes in: the URL of the place, the environment with the credentials, names and bytes in memory. What goes out: the
// bytes of an object, and listings, sorted by name.
//
// What never happens:
//   - Nothing is locked, appended to or sent in parts. One object is one request, or one file.
//   - No request depends on conditional writes. They are used where Probe found that the server has them.
//   - A listing is not trusted: names that this package would not write are left out of it. Names are kept below the prefix,
//     or the directory, of the URL.
//   - Nothing is opened or computed before Open: programs that link this package start no later for it.
//
// What a server tells about an object is no proof that it is whole. Some servers publish the first half of an upload whose
// line broke. So callers give objects names that carry the length and a hash, and compare both.
//
// Errors: *UnreachableError where the place did not answer, *DeniedError where it refused, *URLError where the URL or what it
// names must be corrected. Any other error names the object.
package bucket
