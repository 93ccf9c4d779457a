
set -eu

fail() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

has() {
  command -v "$1" >/dev/null 2>&1
}

# Sets what this machine takes: the executable for its processor, or the file that runs on Node.js.
choose() {
  digest='' loader=''
  system="$(uname -s) on $(uname -m)"
  case $system in
    'Linux on x86_64') digest=$amd64 loader=/lib64/ld-linux-x86-64.so.2 ;;
    'Linux on aarch64' | 'Linux on arm64') digest=$arm64 loader=/lib/ld-linux-aarch64.so.1 ;;
  esac
  member=usr/local/bin/binnacle
  # Without this loader, as on Alpine, no program that is linked with glibc runs.
  [ -z "$digest" ] || [ ! -e "$loader" ] || return 0
  digest=$any member=app/binnacle.mjs
  has node || fail "There is no executable for this system ($system). Install Node.js 20.12 or newer, and run this again."
  node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 12) ? 0 : 1)' </dev/null ||
    fail "There is no executable for this system ($system), and its Node.js is older than 20.12. Install a newer one, and run this again."
}

download() {
  if has curl; then
    curl --fail --silent --show-error --location --output "$2" "$1"
  elif has wget; then
    wget -q -O "$2" "$1"
  else
    fail 'Neither curl nor wget is installed.'
  fi || fail "The download of $1 has failed."
}

checksum() {
  if has sha256sum; then
    sha256sum <"$1"
  elif has shasum; then
    shasum -a 256 <"$1"
  else
    openssl dgst -sha256 -r <"$1"
  fi
}

# Everything is in a function that is called in the last line, so that a script which arrives in part does nothing.
main() {
  folder=${BINNACLE_INSTALL_DIR:-${HOME:+$HOME/.local/bin}}
  [ -n "$folder" ] || fail 'Set BINNACLE_INSTALL_DIR to the folder to install to, because HOME is not set.'
  choose
  has sha256sum || has shasum || has openssl || fail 'Neither sha256sum, shasum nor openssl is installed.'
  mkdir -p "$folder" || fail "The folder $folder cannot be made. Set BINNACLE_INSTALL_DIR to another one."
  [ ! -d "$folder/binnacle" ] || fail "$folder/binnacle is a folder. Set BINNACLE_INSTALL_DIR to another place."
  # In the same folder, so that the program is replaced at once and the place is one where programs may run.
  work=$(mktemp -d "$folder/.binnacle.XXXXXX") ||
    fail "Nothing can be written to $folder. Set BINNACLE_INSTALL_DIR to another folder."
  trap 'rm -rf "$work"' EXIT
  trap 'exit 1' HUP INT TERM

  printf 'Downloading binnacle %s from %s\n' "$version" "$url"
  download "$url$path$digest" "$work/archive"
  found=$(checksum "$work/archive" | cut -d ' ' -f 1)
  [ "$found" = "$digest" ] ||
    fail "The download is damaged or was changed: its SHA-256 is $found, not $digest. Nothing is installed."
  tar -xzf "$work/archive" -C "$work" "$member" || fail 'The download cannot be unpacked. Nothing is installed.'
  chmod 755 "$work/$member"
  runs=$("$work/$member" --version </dev/null) || runs=''
  [ "$runs" = "$version" ] ||
    fail "The program does not run here ($system). It takes glibc 2.28 or newer, libstdc++ and libgcc. Nothing is installed."
  mv -f "$work/$member" "$folder/binnacle"

  printf 'Installed %s\n' "$folder/binnacle"
  case ":$PATH:" in
    *":$folder:"*) ;;
    *) printf 'This folder is not on your PATH. Add it: export PATH="%s:$PATH"\n' "$folder" ;;
  esac
  printf 'Sign in: binnacle login %s\n' "$url"
}

main
