package web

import (
	"crypto/rand"
	"crypto/subtle"
	"net/http"
	"strings"
	"sync"
	"time"
)

// codeTime is how long a one-time code can be exchanged: who finds it later in a list of processes comes
// too late.
const codeTime = time.Minute

// maxTokens bounds how many pages can be logged in; the oldest goes first.
const maxTokens = 64

// login holds codes and tokens, in memory only: they end with the process.
type login struct {
	now func() time.Time

	mu     sync.Mutex
	codes  map[string]time.Time // until when
	tokens []string
}

func newLogin(now func() time.Time) *login { return &login{now: now, codes: map[string]time.Time{}} }

// code makes a one-time code.
func (l *login) code() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	for code, until := range l.codes {
		if l.now().After(until) {
			delete(l.codes, code)
		}
	}
	code := rand.Text()
	l.codes[code] = l.now().Add(codeTime)
	return code
}

// exchange gives a token for a code, once.
func (l *login) exchange(code string) (token string, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	until, ok := l.codes[code]
	delete(l.codes, code)
	if !ok || l.now().After(until) {
		return "", false
	}
	token = rand.Text() + rand.Text()
	l.tokens = append(l.tokens, token)
	l.tokens = l.tokens[max(0, len(l.tokens)-maxTokens):]
	return token, true
}

// knows reports whether a request bears a token.
func (l *login) knows(r *http.Request) bool {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	found := 0
	for _, t := range l.tokens {
		found |= subtle.ConstantTimeCompare([]byte(t), []byte(token))
	}
	return found == 1
}
