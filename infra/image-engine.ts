// The differences between the programs that build images.
import { spawnSync } from "node:child_process"

export type Engine = { readonly command: "docker" | "podman" | "buildah"; readonly env: Record<string, string> }

type Works = (command: string, args: string[], env?: Record<string, string>) => boolean

/** Whether a command succeeds on this machine. */
export const worksHere: Works = (command, args, env = {}) =>
  spawnSync(command, args, { env: { ...process.env, ...env }, stdio: "ignore", timeout: 20_000 }).status === 0

const chroot = { BUILDAH_ISOLATION: "chroot" }

/** Each with the arguments that check whether it works: a docker client may exist without a running engine. */
const engines: readonly (readonly [Engine, probe: string[]])[] = [
  [{ command: "docker", env: { DOCKER_BUILDKIT: "1" } }, ["version", "--format", "{{.Server.Version}}"]],
  [{ command: "podman", env: {} }, ["info"]],
  [{ command: "buildah", env: chroot }, ["info"]],
  // Needs no kernel support for its storage.
  [{ command: "buildah", env: { ...chroot, STORAGE_DRIVER: "vfs" } }, ["info"]],
]

/** The first engine that works, or the one in the setting. */
export const chooseEngine = (works: Works, named?: string): Engine | undefined =>
  engines.find(
    ([{ command, env }, probe]) => (named === undefined || named === command) && works(command, probe, env),
  )?.[0]

type Build = {
  app: string
  version: string
  npmrc: string
  base: string | undefined
  certificates: string | undefined
  revision: string | undefined
}

/** The command line after the engine's name; the build context is the working directory. */
export const buildArguments = (engine: Engine, build: Build): string[] => {
  const values = { APP: build.app, VERSION: build.version, REVISION: build.revision, BASE: build.base }
  const secrets = { npmrc: build.npmrc, certificates: build.certificates }
  return [
    "build",
    // The OCI format has no place for a health check; docker writes its own format anyway.
    ...(engine.command === "docker" ? [] : ["--format", "docker"]),
    ...(engine.command === "buildah" ? ["--layers=false"] : []),
    "--file",
    "infra/Dockerfile",
    "--tag",
    `svc/${build.app}:${build.version}`,
    ...Object.entries(values).flatMap(([key, value]) =>
      value === undefined ? [] : ["--build-arg", `${key}=${value}`],
    ),
    ...Object.entries(secrets).flatMap(([id, path]) =>
      path === undefined ? [] : ["--secret", `id=${id},src=${path}`],
    ),
    ".",
  ]
}

/** Of npm's settings only what a build needs to reach its registry: addresses, credentials, proxies. */
export const registrySettings = (configs: string[]): string => {
  const lines = configs.flatMap((config) => config.split(/\r?\n/))
  return lines
    .filter((line) => /^\s*(@[^=]*:registry|registry|\/\/|_auth|(https?-|no)?proxy|strict-ssl)/.test(line))
    .join("\n")
}
