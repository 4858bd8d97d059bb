module github.com/rewind-cli/rewind/cli/web/bundle

go 1.26.0

require github.com/evanw/esbuild v0.28.0

require golang.org/x/sys v0.49.0 // indirect
