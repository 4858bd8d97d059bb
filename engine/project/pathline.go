package project

// PathLine is one line of an operation's list of paths: JSON, for a person with any version.
type PathLine struct {
	Path   string `json:"path"`
	Raw    string `json:"path_b64,omitempty"`
	Action string `json:"action"`
}
