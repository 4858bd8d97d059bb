# fish completion for rewind
function __rewind_complete
    set -l words (commandline -opc)
    set -l cur (string unescape -- (commandline -ct) 2>/dev/null; or commandline -ct)
    set -l found ($words[1] __complete $words[2..-1] "$cur" 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\n' $found
    else if not string match -q -- '-*' "$cur"
        __fish_complete_path "$cur"
    end
end
complete -c rewind -f -a '(__rewind_complete)'
