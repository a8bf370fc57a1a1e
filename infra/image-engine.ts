// The differences between the programs that build images.
import { spawnSync } from "node:child_process"

export type Engine = { readonly command: "docker" | "podman" | "buildah"; readonly env: Record<string, string> }

type Works = (command: string, args: string[], env?: Record<string, string>) => boolean

/** Whether a command succeeds on this machine. */
export const worksHere: Works = (command, args, env = {}) =>
  spawnSync(command, args, { env: { ...process.env, ...env }, stdio: "ignore", timeout: 20_000 }).status === 0

/** buildah with its default storage driver, or with the one that needs no kernel support. */
export const chooseBuildah = (works: Works): Engine | undefined => {
  const chroot = { BUILDAH_ISOLATION: "chroot" }
  const candidates = [chroot, { ...chroot, STORAGE_DRIVER: "vfs" }]
  const env = candidates.find((candidate) => works("buildah", ["info"], candidate))
  return env === undefined ? undefined : { command: "buildah", env }
}

/**
 * The first engine that answers, or the one that is named. `docker version` asked for its server fails for a client whose
 * engine is away.
 */
export const chooseEngine = (works: Works, named?: string): Engine | undefined => {
  const wanted = (name: string): boolean => named === undefined || named === name
  if (wanted("docker") && works("docker", ["version", "--format", "{{.Server.Version}}"])) {
    return { command: "docker", env: { DOCKER_BUILDKIT: "1" } }
  }
  if (wanted("podman") && works("podman", ["info"])) return { command: "podman", env: {} }
  return wanted("buildah") ? chooseBuildah(works) : undefined
}

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
