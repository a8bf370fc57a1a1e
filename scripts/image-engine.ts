// What differs between the programs that build images.

export type Engine = { readonly command: "docker" | "podman" | "buildah"; readonly env: Record<string, string> }

type Works = (command: string, args: string[], env?: Record<string, string>) => boolean

/**
 * The first engine that answers. `docker version` with a server field fails for a client whose engine is away; buildah
 * falls back to the storage driver that needs nothing of the kernel.
 */
export const chooseEngine = (works: Works): Engine | undefined => {
  if (works("docker", ["version", "--format", "{{.Server.Version}}"])) {
    return { command: "docker", env: { DOCKER_BUILDKIT: "1" } }
  }
  if (works("podman", ["info"])) return { command: "podman", env: {} }
  const chroot = { BUILDAH_ISOLATION: "chroot" }
  if (works("buildah", ["info"], chroot)) return { command: "buildah", env: chroot }
  const vfs = { ...chroot, STORAGE_DRIVER: "vfs" }
  return works("buildah", ["info"], vfs) ? { command: "buildah", env: vfs } : undefined
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
