# fish completion for rewind
function __rewind_complete
    set -l words (commandline -opc)
    set -l cur (commandline -ct)
    $words[1] __complete $words[2..-1] $cur 2>/dev/null
end
complete -c rewind -a '(__rewind_complete)'
