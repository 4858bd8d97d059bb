package cli

// style is a terminal attribute; "" is plain text.
type style string

const (
	plain  style = ""
	bold   style = "1"
	dim    style = "2"
	red    style = "31"
	green  style = "32"
	yellow style = "33"
	blue   style = "34"
	cyan   style = "36"
)

// painter colours text where colours are wanted, and leaves it alone elsewhere.
type painter struct{ on bool }

func (p painter) paint(s style, text string) string {
	if !p.on || s == plain || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}
