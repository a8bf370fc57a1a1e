#!/bin/sh
# The workspace's own Node needs GCC's library libatomic, which the smallest Debian systems lack. Runs after an install:
# installs it if it can (root, apt), and otherwise says what is missing. Does nothing if that Node starts.
wanted=$(sed -n 's/^nodeVersion: *\([0-9]*\).*/\1/p' pnpm-workspace.yaml)
if said=$(node --version 2>&1); then
  major=${said#v}
  [ "${major%%.*}" -ge "$wanted" ] && exit 0
  echo "The workspace's own Node is missing, and the one on the PATH is $said. Repeat the install, or put Node $wanted on the PATH." >&2
  exit 1
fi
case $said in
  *libatomic*) ;;
  *) echo "$said" >&2; exit 1 ;;
esac
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "Node needs libatomic1: installing it with apt-get"
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends libatomic1 >/dev/null
  exec node --version
fi
echo "Node needs the library libatomic. Install it (Debian, Ubuntu: libatomic1; Fedora, Alpine: libatomic) and try again." >&2
exit 1
