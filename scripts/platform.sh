# What the other scripts ask of the machine; sourced, never run.

# Debian keeps servers in /usr/sbin, which an ordinary user's PATH leaves out.
PATH="$PATH:/usr/sbin:/usr/local/sbin:/sbin"

# install_line APT DNF PACMAN: the one line that installs these packages here.
install_line() {
    local as_root="sudo "
    [ "$(id -u)" -ne 0 ] || as_root=""
    if command -v apt-get >/dev/null; then
        echo "${as_root}apt-get install -y --no-install-recommends $1"
    elif command -v dnf >/dev/null; then
        echo "${as_root}dnf install -y $2"
    elif command -v pacman >/dev/null; then
        echo "${as_root}pacman -S --needed $3"
    else
        echo "with your package manager: $1"
    fi
}
