package screen

// Style is a terminal attribute; "" is plain text.
type Style string

const (
	Plain  Style = ""
	Bold   Style = "1"
	Dim    Style = "2"
	Red    Style = "31"
	Green  Style = "32"
	Yellow Style = "33"
	Blue   Style = "34"
	Cyan   Style = "36"

	RedMark   Style = "31;7" // what differs within a line
	GreenMark Style = "32;7"
)

// Painter colours text where colours are wanted, and leaves it alone elsewhere.
type Painter struct{ On bool }

// Paint is text in a style.
func (p Painter) Paint(s Style, text string) string {
	if !p.On || s == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// Reverse swaps text and ground: the line that the cursor is on.
const Reverse Style = "7"
