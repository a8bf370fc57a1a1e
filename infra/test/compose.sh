#!/usr/bin/env bash
# Types the commands for compose of docs/operations.md and self-hosting.md into a real Docker engine, in the pages' order, with the
# images that `pnpm image` built. The images of others are made of Debian's packages. The engine has a network, mounts and processes of its
# own, which end with this script. Needs root, buildah and Debian's docker.io and iptables. Where those don't work, it says so.
set -euo pipefail
cd "$(dirname "$0")/../.."

if [ "${1:-}" != inside ]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  export BUILDAH_ISOLATION=chroot
  buildah info >/dev/null 2>&1 || export STORAGE_DRIVER=vfs

  # Debian 12 has no Compose that knows today's files; Debian 13's runs on it.
  mkdir -p "$work/config/cli-plugins" "$work/lists/partial" "$work/package"
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Codename: bookworm' 'Component: main' | head -n 1)
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror trixie main" >"$work/sources.list"
  newer() {
    (cd "$work/package" && apt-get -qq -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=- \
      -o Dir::State::Lists="$work/lists" -o APT::Sandbox::User=root "$@")
  }
  newer update && newer download docker-compose || { echo "compose: not run, because Debian 13 can't be read here"; exit; }
  dpkg-deb --extract "$work"/package/*.deb "$work/package"
  cp "$work/package/usr/libexec/docker/cli-plugins/docker-compose" "$work/config/cli-plugins/"

  # This machine's PostgreSQL, Caddy and Redis with what they load, for the images that compose.yaml names.
  postgres=$(echo /usr/lib/postgresql/*)
  root=$work/stand-ins
  mkdir -p "$root"/{etc/caddy,run,var/lib/postgresql,usr/bin}
  programs=("$postgres"/bin/* /bin/{bash,sh,cat,chown,mkdir,wget} /usr/bin/{caddy,redis-server,redis-cli})
  { printf '%s\n' "${programs[@]}" && ldd "${programs[@]}" "$postgres"/lib/*.so | grep -o '/[^ ]*\.so[^ :]*'; } | sort -u |
    tar --create --dereference --files-from=- "$postgres/lib" "/usr/share/postgresql/${postgres##*/}" /usr/share/zoneinfo /usr/lib/locale/C.utf8 2>/dev/null |
    tar --extract --directory="$root"
  mkdir -m 1777 "$root/tmp"
  printf '%s\n' root:x:0:0::/:/bin/sh postgres:x:999:999::/:/bin/sh valkey:x:998:998::/:/bin/sh >"$root/etc/passwd"
  printf '%s\n' root:x:0: postgres:x:999: valkey:x:998: >"$root/etc/group"
  chown 999:999 "$root/var/lib/postgresql"
  for name in server cli; do ln -s redis-$name "$root/usr/bin/valkey-$name"; done
  # What the official image of PostgreSQL does with a new volume.
  install -m 0755 /dev/stdin "$root/entrypoint" <<'SH'
#!/bin/bash
set -eu
data=/var/lib/postgresql/18/docker
if [ "$1" = postgres ] && [ ! -e $data ]; then
  mkdir -p -m 0700 $data
  initdb --pgdata=$data --username="$POSTGRES_USER" --pwfile=<(echo "$POSTGRES_PASSWORD") --encoding=UTF8 --locale=C.UTF-8 --auth-host=scram-sha-256 >/dev/null
  echo "host all all all scram-sha-256" >>$data/pg_hba.conf
  echo "create database $POSTGRES_DB" | postgres --single -D $data postgres >/dev/null
fi
[ "$1" != postgres ] || set -- postgres -D $data -c listen_addresses='*'
exec "$@"
SH

  version=$(node -p 'require("./apps/relay/package.json").version')
  for app in docs-server relay platform-api; do
    buildah push --quiet "svc/$app:$version" "docker-archive:$work/$app.tar:svc/$app:$version"
  done
  cp -r infra docs apps/docs-server/content "$work"
  unshare --net --mount --pid --fork --kill-child --mount-proc bash "$0" inside "$work" "$version"
  exit
fi

work=$2 version=$3
cd "$work"
export DOCKER_HOST=unix://$work/docker.sock DOCKER_CONFIG=$work/config
ip link set lo up
dockerd --data-root "$work/data" --exec-root "$work/exec" --host "$DOCKER_HOST" --pidfile "$work/pid" \
  --exec-opt native.cgroupdriver=cgroupfs --default-ulimit "nofile=1024:$(ulimit -Hn)" >engine.log 2>&1 &
engine=$!
for _ in $(seq 60); do docker version >/dev/null 2>&1 && break; kill -0 $engine || break; sleep 1; done
docker version >/dev/null 2>&1 || { tail -n 3 engine.log; echo "compose: not run, because no Docker engine can start here"; exit; }
finish() {
  local code=$?
  [ $code -eq 0 ] || docker compose -f infra/compose.yaml logs --tail 20
  docker compose -f infra/compose.yaml -f infra/compose.scaled.yaml down --volumes >/dev/null 2>&1 || true
  kill $engine
  wait $engine || true
}
trap finish EXIT
for archive in *.tar; do docker load --quiet --input "$archive" >/dev/null; rm "$archive"; done
path=$(cd stand-ins && echo /usr/lib/postgresql/*/bin):/usr/bin:/bin
for image in $(sed -n 's/^ *image: *\(docker.io\/.*\)/\1/p' infra/compose*.yaml | sort -u); do
  command='["postgres"]'
  [[ $image != */caddy:* ]] || command='["caddy", "run", "--config", "/etc/caddy/Caddyfile"]'
  tar --create --directory=stand-ins . |
    docker import --change "ENV PATH=$path" --change 'ENTRYPOINT ["/entrypoint"]' --change "CMD $command" - "$image" >/dev/null
done

# Whole fences: what one defines is there for the next.
page() { awk -v word="$2" '/^```/ { inside = ($0 ~ "^```[a-z]+ " word "$"); next } inside' "$1" | grep .; }
page docs/operations.md compose >install.sh
page docs/operations.md compose=later >later.sh
# A start beside CI's tests takes over a minute on a slow machine.
wait=(--retry 300 --retry-delay 1 --retry-all-errors)
PRIVATE_DIR=$work/private
mkdir -m 0700 "$PRIVATE_DIR"
set -x
source install.sh
[ "$(stat --format=%a infra/.env)" = 600 ]
export CURL_CA_BUNDLE=$work/root.crt
curl -fsS https://docs.localhost/llms.txt >/dev/null
curl -fsS https://relay.localhost/health >/dev/null
platform stack publish stacks/transfers.stack.json --name transfers --websocket-url wss://streams.example.com/transfers >/dev/null
curl -fsS -X POST https://api.localhost/api/agents/signup | sed 's/.*"api_key":"\([^"]*\)".*/authorization: Bearer \1/' >agent.header
for app in platform-api docs-server; do docker compose -f infra/compose.yaml exec -T $app node src/main.ts doctor; done
# All of these requests came through the proxy, whose network is trusted.
docker compose -f infra/compose.yaml logs platform-api docs-server relay >requests.log
if grep "untrusted peer" requests.log; then exit 1; fi

# The next version has the same contents.
next=$(sed -n 's/.*SVC_VERSION=.*SVC_VERSION=\([0-9.]*\).*/\1/p' later.sh)
for app in docs-server relay platform-api; do docker tag "svc/$app:$version" "svc/$app:$next"; done
source later.sh
curl -fsS "${wait[@]}" https://api.localhost/livez >/dev/null
curl -fsS -H @agent.header https://api.localhost/api/agents/me >/dev/null
curl -fsS https://api.localhost/api/registry | grep -q '"transfers"'
docker ps --format '{{.Image}}' | grep -q "svc/relay:$next"

docker compose -f infra/compose.yaml -f infra/compose.scaled.yaml config --quiet
containers=$(docker compose -f infra/compose.yaml ps --quiet platform-api relay docs-server)
docker compose -f infra/compose.yaml stop
[ "$(docker inspect --format '{{.State.ExitCode}}' $containers | sort -u)" = 0 ]

# self-hosting.md: a server, and a command beside it.
cp infra/env/platform-api.env.example platform-api.env
grep "^docker run" content/self-hosting.md | sed "s/{version}/$version/" >single.sh
(source <(grep -- --publish single.sh)) >single.log 2>&1 &
curl -fsS "${wait[@]}" http://127.0.0.1:4003/health | grep -q "\"version\":\"$version\""
[ "$(source <(grep -v -- --publish single.sh))" = "[]" ]
docker stop $(docker ps --quiet) >/dev/null
