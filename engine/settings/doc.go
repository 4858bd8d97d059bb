// Package settings is the configuration of an account and of a project.
//
//  1. Load reads the account's config.json, then the project's, which
//     overrides it key by key. Both may hold comments and trailing commas;
//     keys are nested ({"antiSpam": {"enabled": true}}) or dotted
//     ({"antiSpam.enabled": true}).
//  2. The tier is chosen: REWIND_TIER, then CHECKPOINT_TIER, then the key
//     "tier", then "balanced". It gives the values of antiSpam.*,
//     significance.* and the moments at which hooks fire, unless a file sets a
//     key by hand. <TiersDir>/<name>.json overrides the embedded parameters.
//  3. What cannot be used (an unknown key, a wrong type, a file that is no
//     JSON) becomes a Warning, and the next weaker value holds. Load never
//     fails: a hook continues.
//
// Settings has typed fields for code, and Values for people: each key with its
// value and where it comes from. Set and Unset edit one key of one file and
// leave every other byte as it was.
//
// Loading costs one small read per file that is given and is safe from any
// number of processes; Set replaces the file atomically, so a reader sees the
// old or the new one. Changes of one file take turns, so none is lost.
package settings
