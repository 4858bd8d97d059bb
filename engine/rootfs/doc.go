// Package rootfs gives access to the tree of a project that cannot leave it.
//
//  1. Open takes the root. Its file system, device and mount are what
//     everything below has to be on.
//  2. FS.OpenDir opens a directory by its path. Every component is opened
//     without following a symbolic link and without crossing a mount, so that
//     neither a link to the outside nor one that stays inside
//     (docs -> .git/hooks) leads anywhere. A ".git" component is refused in
//     any letter case, and so are "..", absolute paths and NUL.
//  3. Dir does everything else, on single names in that directory. No
//     operation of it follows a link.
//
// On Linux a Dir is a file descriptor and the kernel does the checking
// (openat2, or a walk with O_NOFOLLOW where that is missing). The portable
// implementation, OpenPortable, uses os.Root, looks at each component
// before and after opening it, and compares identities.
//
// What remains is inherent: a directory that another process moves out of the
// project between OpenDir and an operation takes the operation with it. So a
// Dir is held for a short time only.
package rootfs
