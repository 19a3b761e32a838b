# round.sh NUMBER [--digits N]
LC_ALL=C printf "%.${3:-0}f\n" "$1"
