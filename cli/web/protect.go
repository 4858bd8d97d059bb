package web

import (
	"net"
	"net/http"
)

// policy is what the page may do: run and show what this server gives it, and talk to it. Nothing of a
// text can become markup or code.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; worker-src 'self'; img-src data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types rewind-worker"

// protect refuses requests that another site, or a name that only points here, has brought about.
func protect(next http.Handler) http.Handler {
	origin := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		switch site := r.Header.Get("Sec-Fetch-Site"); {
		case !loopback(r.Host):
			// A name that resolves to this address, of somebody else's: its pages must not read ours.
			fail(w, http.StatusMisdirectedRequest, "this address is for localhost only", "")
		case site != "" && site != "same-origin" && !(site == "none" && r.Method == http.MethodGet):
			fail(w, http.StatusForbidden, "another site asked", "")
		case origin.Check(r) != nil:
			fail(w, http.StatusForbidden, "another site asked", "")
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// loopback reports whether a Host header names this machine, at any port: ssh -L changes it.
func loopback(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	switch name {
	case "localhost", "127.0.0.1", "::1", "[::1]":
		return true
	}
	return false
}
