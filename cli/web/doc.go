// Package web serves the page of rewind ui: requests come in, JSON goes out.
//
//  1. A Server listens on loopback only (listen.go). Whoever is given its address with a one-time code (Link)
//     exchanges it for a token (login.go), and sends that with each request. There is no cookie, so that
//     nothing that a browser does by itself carries any right.
//  2. Every request passes protect (protect.go): a Host that is loopback's, no other site's Origin, the
//     headers that keep the page to itself.
//  3. The API (api.go) reads a request, asks the Source, and writes its answer. Projects, rows and plans are
//     looked up by ids that the Source gave before; no path of the file system comes from a request.
//  4. News come by a response that stays open (events.go), as long as a page is open.
//
// What the answers say is the Source's business; package cli/page has one. This package imports nothing of ours.
// The page itself is below page/: sources that a browser runs as they are, and dist, the same in few files, packed with gzip.
package web
