package ignore_test

import (
	"testing"

	"github.com/rewind-cli/rewind/engine/ignore"
)

func TestPrecious(t *testing.T) {
	list := []string{".env", ".env.*", "*.key", "*.db", ".vscode/", "config/secrets/*.pem", "/build/deep/own/", "node_modules/x/mine.key", "!public.key", "dist/**", "!dist/*.map"}
	tree := files{
		".gitignore":     ".env*\n*.key\n*.db/\n*.db\n.vscode/\n/config/\n/build/\n/dist/\n/logs/*\n!.env.example\n",
		".rewindignore":  "/own/\nleft.key\n",
		"sub/.gitignore": "!.env\n",
		"all/.gitignore": "*\n",
	}
	for _, c := range []struct {
		name    string
		config  ignore.Config
		tracked index
		want    decisions
	}{
		{
			name:   "names, at any depth, outside of what is ignored whole",
			config: ignore.Config{CaptureIgnored: "precious"},
			want: decisions{
				ignore.Precious: ".env .env.local a/b/.env a/x.key logs/.env logs/a.db all/.env",
				ignore.Capture:  "x .env.example sub/.env a/.env.example",
				ignore.Skip:     "public.key a/public.key logs/x all/x .env/ .env/bin/ .env/x.key a.db/ a.db/x.key build/.env config/.env .env.swp config/x.key build/x/",
			},
		},
		{
			name:   "directories that are ignored whole, when they are named",
			config: ignore.Config{CaptureIgnored: "precious"},
			want: decisions{
				ignore.Descend:  ".vscode/ .vscode/x/ a/.vscode/ config/ config/secrets/ build/deep/ build/deep/own/ build/deep/own/x/ dist/ dist/a/",
				ignore.Precious: ".vscode/settings.json .vscode/x/y a/.vscode/y config/secrets/a.pem build/deep/own/x/y dist/a/b",
				ignore.Skip:     "config/secrets/a config/other/ build/deep/y build/.vscode/ build/other/ .vscode/public.key dist/a.map .vscode/node_modules/ dist/node_modules/ .vscode/x.swp",
			},
		},
		{
			name:   "what is never source only by a pattern that spells it out",
			config: ignore.Config{CaptureIgnored: "precious"},
			want: decisions{
				ignore.Descend:  "node_modules/ node_modules/x/",
				ignore.Precious: "node_modules/x/mine.key",
				ignore.Skip:     "a/node_modules/ node_modules/y/ node_modules/x/your.key node_modules/.env .venv/ .cache/",
			},
		},
		{
			name:   "rules written for rewind are not weakened, forceInclude and git's index come first",
			config: ignore.Config{CaptureIgnored: "precious", Ignore: []string{"never.key", "/.vscode"}, ForceInclude: []string{"/forced.key"}},
			tracked: index{
				"tracked.key", "build/t/.env",
			},
			want: decisions{
				ignore.Capture: "forced.key tracked.key build/t/.env",
				ignore.Skip:    "never.key left.key own/ own/a.key .vscode/ .vscode/x build/t/x.key",
				ignore.Descend: "build/t/",
			},
		},
		{
			name:   "captureIgnored small: those that are precious may be larger",
			config: ignore.Config{CaptureIgnored: "small"},
			want: decisions{
				ignore.Precious: ".env .vscode/x",
				ignore.IfSmall:  "logs/x public.key",
				ignore.Skip:     "build/x",
			},
		},
		{
			name:    "captureIgnored all: they are marked, below ignored directories too",
			config:  ignore.Config{CaptureIgnored: "all"},
			tracked: index{"build/tracked.key", "tracked.key"},
			want: decisions{
				ignore.Marked:  ".env build/.env build/x/y.key .vscode/x dist/a/b .env/x.key",
				ignore.Capture: "logs/x public.key build/x build/ build/tracked.key tracked.key dist/a.map sub/.env .env.example",
				ignore.Skip:    "left.key own/ node_modules/.env",
			},
		},
		{
			name:    "no ignore: they are marked",
			config:  ignore.Config{NoIgnore: true},
			tracked: index{"tracked.key"},
			want: decisions{
				ignore.Marked:  ".env build/.env .vscode/x left.key own/a.key node_modules/.env",
				ignore.Capture: "logs/x public.key build/x build/ tracked.key sub/.env .env.example x own/ node_modules/",
			},
		},
		{
			name:   "captureIgnored none: as if there were no such setting",
			config: ignore.Config{CaptureIgnored: "none"},
			want:   decisions{ignore.Skip: ".env .vscode/ .vscode/x a.key node_modules/"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.config.Precious = list
			check(t, compile(t, c.config, c.tracked), tree, c.want)
		})
	}
}
