# Sourced by the Dockerfile's build steps: the versions in the workspace, and the builder's certificates and registry
# settings, if there are any.
export TURBO_TELEMETRY_DISABLED=1 npm_config_update_notifier=false CI=true
if [ -s /run/secrets/certificates ]; then
  export NODE_EXTRA_CA_CERTS=/run/secrets/certificates SSL_CERT_FILE=/run/secrets/certificates
  export npm_config_cafile=/run/secrets/certificates
fi
if [ -s /run/secrets/npmrc ]; then ln -sf /run/secrets/npmrc "$HOME/.npmrc"; fi
catalog() { sed -n "s/^  $1: *\\([0-9].*\\)/\\1/p" pnpm-workspace.yaml; }
